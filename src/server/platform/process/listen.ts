import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import { createServer, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { listen as listhen } from "listhen";
import type { TlsFiles } from "../core/security/tls.ts";
import { answerBadRequests } from "./bad-requests.ts";
import { Connections } from "./connections.ts";
import { type Drain, type DrainResult, drain } from "./drain.ts";
import { meterHandshakes } from "./handshakes.ts";
import { BACKLOG, listenError } from "./listen-error.ts";
import { quiet } from "./quiet.ts";
import { leavePort, receiveConnections, requestConnections } from "./shared-port.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly url: string;
}

export interface Listening {
  /** Serves the requests that have waited, and all later ones. */
  open(): void;
  /** Stops accepting connections and resolves when all are closed. */
  close(how: Drain): Promise<DrainResult>;
}

const LOOPBACK = "127.0.0.1";
/** Agents poll every 10 s or more; with a shorter keep-alive they would need a new handshake each time. */
const KEEP_ALIVE_MS = 120_000;
/** Slow clients must not occupy a socket by sending headers or a body a few bytes at a time. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 60_000;

/** Determines the address to listen on; for port 0 it picks a free port. */
export async function chooseAddress(options: { host: string; port: number; tls: TlsFiles | null }): Promise<Address> {
  const { host, tls } = options;
  const port = options.port === 0 ? await freePort(host) : options.port;
  const name = host.includes(":") ? `[${host}]` : host;
  return { host, port, tls, url: `${tls === null ? "http" : "https"}://${name}:${port}` };
}

/** Takes a connection over for another protocol. Returns false if the request is not meant for it. */
type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

interface ListenOptions {
  readonly upgrade?: Upgrade;
  /** Requests wait until `open` is called. */
  readonly isHeld?: boolean;
  /** The primary process accepts the connections, for several workers. */
  readonly isShared?: boolean;
  /** Time in which a request has to arrive. Tests make it shorter. */
  readonly limitMs?: number;
  /** Whether connections from this address are closed at once. */
  readonly refuses?: (peer: string | undefined) => boolean;
}

/**
 * Throws `BadSetting` if the port is not available. That is found out by listening, never by a trial before it:
 * closing a listener resets the connections that clients have opened meanwhile.
 */
export async function listen(
  handler: RequestListener,
  { host, port, tls }: Address,
  { upgrade, isHeld = false, isShared = false, limitMs = REQUEST_MS, refuses }: ListenOptions = {},
): Promise<Listening> {
  const connections = new Connections(handler);
  if (isHeld) connections.hold();
  const { server } = await listhen(connections.serve, {
    port: await freePort(LOOPBACK),
    hostname: LOOPBACK,
    https: tls === null ? false : { cert: tls.cert, key: tls.key },
    showURL: false,
    autoClose: false,
    isProd: true,
    isTest: true,
    public: false,
  });
  const http = server as Server;
  onlyHandler(http, connections.serve);
  if (upgrade) takeUpgrades(http, connections, upgrade);
  tune(http);
  const late = endLateRequests(http, connections, limitMs);
  answerBadRequests(http);
  if (tls !== null) askForCertificates(http);
  if (tls !== null) meterHandshakes(http, (socket) => connections.begun(socket));
  connections.watch(http, tls !== null);
  if (refuses) closeRefused(http, refuses);
  await closeListener(http);
  if (isShared) receiveConnections(http);
  else await listenAgain(http, host, port);
  return {
    open() {
      connections.release();
      if (isShared) requestConnections();
    },
    async close(how) {
      const drained = await drain(connections, isShared ? leavePort : stopAccepting, how);
      clearInterval(late);
      return drained;
    },
  };

  async function stopAccepting(hurry?: AbortSignal): Promise<void> {
    await quiet(connections, hurry);
    void closeListener(http);
  }
}

/**
 * listhen adds a second listener (http-shutdown) to each request. It throws, which ends the process, if the request's
 * socket closes before the reply is written; any client could cause that. So it is removed, and connections are
 * closed in this file.
 */
function onlyHandler(server: Server, handler: RequestListener): void {
  server.removeAllListeners("request");
  server.on("request", handler);
}

/**
 * A client may offer a protocol that the server does not support (RFC 9110, 7.8): the request is then served
 * normally.
 */
function takeUpgrades(server: Server, connections: Connections, upgrade: Upgrade): void {
  server.on("upgrade", (req, socket, head) => {
    if (upgrade(req, socket, head)) return connections.upgraded(req);
    const res = new ServerResponse(req);
    res.assignSocket(socket as Socket);
    res.shouldKeepAlive = false;
    res.on("finish", () => socket.end());
    socket.on("error", () => socket.destroy());
    connections.serve(req, res);
  });
}

/** Devices may present a certificate. What it is worth, the handler of their message decides. */
function askForCertificates(server: Server): void {
  Object.assign(server, { requestCert: true, rejectUnauthorized: false });
}

function tune(server: Server): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_MS;
  // Node knows no exceptions: see `endLateRequests`.
  server.requestTimeout = 0;
  server.maxRequestsPerSocket = 0;
}

const LATE_CHECKS = 12;

/** Before any other listener, and before a handshake. */
function closeRefused(server: Server, refuses: (peer: string | undefined) => boolean): void {
  server.prependListener("connection", (socket: Socket) => {
    if (refuses(socket.remoteAddress)) socket.destroy();
  });
}

/** Slow requests end as Node would end them, except uploads that may take longer (`core/http/long-request.ts`). */
function endLateRequests(server: Server, connections: Connections, limitMs: number): NodeJS.Timeout {
  const timer = setInterval(() => {
    for (const socket of connections.late(limitMs))
      server.emit(
        "clientError",
        Object.assign(new Error("Request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }),
        socket,
      );
  }, limitMs / LATE_CHECKS);
  return timer.unref();
}

/**
 * listhen always uses Node's backlog of 511, so the server listens a second time with a larger one. The first time it
 * uses a port that no client knows: otherwise closing would wait for agents that have connected meanwhile.
 */
function listenAgain(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
    server.once("error", failed);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", failed);
      resolve();
    });
  });
}

/** The HTTP server's own `close` would also close idle connections, some of which have a request on the wire. */
const closeListener = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });

const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, 0)));
    // Without `exclusive`, port 0 would give all workers the same shared port.
    probe.listen({ port: 0, host, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
