// TLS handshakes in the order in which the connections came. After a restart every agent comes at once, and a handshake costs
// hundreds of times what an accept does: begun all together none would end before the agents give up (16 s) and come again.
import type { Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Handshakes that begin in one turn of the event loop; between two turns those under way go on, and requests are answered. */
const A_TURN = 8;
/** Whoever waited this long has given up: its handshake would only keep the others waiting. */
const PATIENCE_MS = 15_000;

interface Waiting {
  readonly socket: Socket;
  readonly since: number;
}

export interface Handshakes {
  /** Ends the connections that have not got as far as TLS: closing the server would wait two minutes for them. */
  close(): void;
}

/** Takes over the connections of a server for TLS that already has all of its own listeners. */
export function meterHandshakes(server: Server): Handshakes {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  const unsecured = new Map<string, Socket>();
  let waiting: Waiting[] = [];
  let next = 0;

  function begin({ socket, since }: Waiting): void {
    if (socket.destroyed) return;
    if (performance.now() - since > PATIENCE_MS) return void socket.destroy();
    for (const listener of listeners) listener.call(server, socket);
  }

  function pump(): void {
    const until = Math.min(waiting.length, next + A_TURN);
    while (next < until) begin(waiting[next++]!);
    if (next < waiting.length) return void setImmediate(pump);
    waiting = [];
    next = 0;
  }

  server.on("connection", (socket: Socket) => {
    const key = peerOf(socket);
    unsecured.set(key, socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      if (unsecured.get(key) === socket) unsecured.delete(key);
    });
    waiting.push({ socket, since: performance.now() });
    if (waiting.length === 1) setImmediate(pump);
  });
  const secured = (socket: TLSSocket) => void unsecured.delete(peerOf(socket));
  server.on("secureConnection", secured);

  return {
    close() {
      for (const socket of unsecured.values()) socket.destroy();
    },
  };
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
