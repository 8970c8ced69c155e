// Runs TLS handshakes in the order of the connections. After a server restart all agents connect at once, and a
// handshake costs hundreds of times as much as an accept: if all started together, none would finish before the
// agents time out (16 s) and reconnect.
import type { Server, Socket } from "node:net";

/**
 * Number of handshakes started per turn of the event loop. Between turns, running handshakes continue and requests
 * are served.
 */
const A_TURN = 8;
/** A client that has waited this long has timed out, so its handshake would only delay others. */
const PATIENCE_MS = 15_000;

interface Waiting {
  readonly socket: Socket;
  readonly since: number;
}

/** Takes over the connections of a TLS server that already has all its own listeners. `begun`: a handshake begins. */
export function meterHandshakes(server: Server, begun: (socket: Socket) => void): void {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  let waiting: Waiting[] = [];
  let next = 0;

  function begin({ socket, since }: Waiting): void {
    if (socket.destroyed) return;
    if (performance.now() - since > PATIENCE_MS) return void socket.destroy();
    begun(socket);
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
    socket.on("error", () => {});
    waiting.push({ socket, since: performance.now() });
    if (waiting.length === 1) setImmediate(pump);
  });
}
