// The open connections of a listener: which of them have a request in progress, and which can be closed without a
// client losing an answer.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { isLong } from "../core/http/long-request.ts";

/**
 * A new connection on which nothing has arrived for this long was opened in advance, or its client hangs: others send
 * their handshake or request sooner.
 */
const SILENT_MS = 2_000;
/** Connections closed per turn of the event loop. Between turns, requests that have arrived meanwhile are read. */
const CLOSED_PER_TURN = 32;

interface Connection {
  /** The socket that was accepted. Its count of bytes includes those that TLS has not decrypted yet. */
  readonly raw: Socket;
  /** What requests arrive on: with TLS not `raw`, and null until the handshake is complete. */
  socket: Socket | null;
  requests: number;
  /** The latest of them, and when it began. */
  request: { readonly req: IncomingMessage; readonly since: number } | null;
  answer: ServerResponse | null;
  hasServed: boolean;
  isUpgraded: boolean;
  /**
   * When the connection last became idle, and the number of bytes received until then. Null: its handshake has not
   * begun yet.
   */
  idleSince: number | null;
  idleBytes: number;
}

export class Connections {
  /** Number of connections accepted so far, and when the last one was. */
  accepted = 0;
  lastAccepted = Number.NEGATIVE_INFINITY;
  /** Number of answers sent since `announce`. */
  answered = 0;
  readonly #open = new Map<Socket, Connection>();
  readonly #bySocket = new Map<Socket, Connection>();
  /** Handshakes that are not complete. Node offers no way from a TLS socket to the connection below it. */
  readonly #byPeer = new Map<string, Connection>();
  readonly #handler: RequestListener;
  #announced = false;
  #held: (() => void)[] | null = null;

  constructor(handler: RequestListener) {
    this.#handler = handler;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Passes a request on to the handler. */
  readonly serve = (req: IncomingMessage, res: ServerResponse): void => {
    const connection = this.#bySocket.get(req.socket);
    if (connection) {
      connection.requests++;
      connection.request = { req, since: performance.now() };
      connection.answer = res;
    }
    if (this.#announced) res.shouldKeepAlive = false;
    res.once("close", () => {
      if (this.#announced && res.writableFinished) this.answered++;
      if (connection === undefined) return;
      connection.requests--;
      if (connection.answer === res) {
        connection.answer = null;
        connection.request = null;
      }
      connection.hasServed = true;
      becomeIdle(connection);
    });
    if (this.#held === null) this.#handler(req, res);
    else
      this.#held.push(() => {
        if (!res.destroyed) this.#handler(req, res);
      });
  };

  /** Follows the connections of a server. `isTls`: their handshakes begin when `begun` is called. */
  watch(server: Server, isTls: boolean): void {
    server.on("connection", (raw: Socket) => {
      this.accepted++;
      this.lastAccepted = performance.now();
      const connection: Connection = {
        raw,
        socket: isTls ? null : raw,
        requests: 0,
        request: null,
        answer: null,
        hasServed: false,
        isUpgraded: false,
        idleSince: isTls ? null : this.lastAccepted,
        idleBytes: 0,
      };
      this.#open.set(raw, connection);
      if (!isTls) this.#bySocket.set(raw, connection);
      const peer = isTls ? peerOf(raw) : "";
      if (isTls) this.#byPeer.set(peer, connection);
      raw.once("close", () => {
        this.#closed(connection);
        if (isTls && this.#byPeer.get(peer) === connection) this.#byPeer.delete(peer);
      });
    });
    if (isTls) server.on("secureConnection", (socket: TLSSocket) => this.#secured(socket));
  }

  /** The connection now belongs to another protocol, which closes it. */
  upgraded(req: IncomingMessage): void {
    const connection = this.#bySocket.get(req.socket);
    if (connection) connection.isUpgraded = true;
  }

  /** The handshake of a TLS connection begins. */
  begun(raw: Socket): void {
    const connection = this.#open.get(raw);
    if (connection) connection.idleSince = performance.now();
  }

  /** The sockets of requests that have not arrived completely in this time, except those that may take longer. */
  late(limitMs: number): Socket[] {
    const before = performance.now() - limitMs;
    return [...this.#open.values()].flatMap(({ request, isUpgraded }) =>
      request === null || isUpgraded || request.since > before || request.req.complete || isLong(request.req)
        ? []
        : [request.req.socket],
    );
  }

  /** From now on every answer has `Connection: close`, also those to requests in progress. */
  announce(): void {
    this.#announced = true;
    for (const { answer } of this.#open.values())
      if (answer !== null && !answer.headersSent) answer.shouldKeepAlive = false;
  }

  /** Requests that arrive from now on wait until `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const serve of held) serve();
  }

  /**
   * Closes connections that have no request in progress: after an answer when they have been idle for `idleMs`, new
   * ones when nothing arrives. Returns how many.
   */
  async closeIdle(idleMs: number): Promise<number> {
    let count = 0;
    for (const connection of [...this.#open.values()]) {
      if (!isIdle(connection, idleMs)) continue;
      if (count++ % CLOSED_PER_TURN === 0) await nextTurn();
      // A request may have arrived in this turn.
      if (isIdle(connection, idleMs)) destroy(connection);
      else count--;
    }
    return count;
  }

  /** Closes every connection. Returns the number of requests that were in progress. */
  cut(): number {
    let requests = 0;
    for (const connection of [...this.#open.values()]) {
      requests += connection.requests;
      destroy(connection);
    }
    return requests;
  }

  #secured(socket: TLSSocket): void {
    const peer = peerOf(socket);
    const connection = this.#byPeer.get(peer);
    if (connection === undefined) return;
    this.#byPeer.delete(peer);
    connection.socket = socket;
    this.#bySocket.set(socket, connection);
    becomeIdle(connection);
    socket.once("close", () => this.#closed(connection));
  }

  #closed({ raw, socket }: Connection): void {
    this.#open.delete(raw);
    if (socket !== null) this.#bySocket.delete(socket);
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

function becomeIdle(connection: Connection): void {
  connection.idleSince = performance.now();
  connection.idleBytes = connection.raw.bytesRead;
}

function isIdle(connection: Connection, idleMs: number): boolean {
  const { raw, requests, hasServed, isUpgraded, idleSince, idleBytes } = connection;
  if (requests > 0 || isUpgraded || idleSince === null) return false;
  // A request, or a handshake, has arrived in part.
  if (raw.bytesRead !== idleBytes) return false;
  return performance.now() - idleSince >= (hasServed ? idleMs : SILENT_MS);
}

function destroy({ raw, socket }: Connection): void {
  if (socket === null) raw.destroy();
  else socket.destroy();
}
