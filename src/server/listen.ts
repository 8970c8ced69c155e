import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import { createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { listen as listhen } from "listhen";
import { answerBadRequests } from "./bad-requests.ts";
import { BadSetting, type TlsFiles } from "./core/tls.ts";
import { meterHandshakes } from "./handshakes.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles | null;
  readonly url: string;
}

export interface Listening {
  /** Stops accepting, lets what runs finish (at most `graceMs`), then closes what is left. */
  close(graceMs: number): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
/** Agents poll every 10 s and more: a shorter keep-alive would cost them a handshake each time. */
const KEEP_ALIVE_MS = 120_000;
/** Slow clients may not hold a socket by dribbling headers or a body. */
const HEADERS_MS = 15_000;
const REQUEST_MS = 60_000;
/** How long a stop waits for handshakes: no request was accepted on these connections yet. */
const HANDSHAKE_MS = 1_000;

/** Where the server will be found: a port that is free now, for port 0 any; `BadSetting` when there is none. */
export async function chooseAddress(options: {
  host: string;
  port: number;
  tls: TlsFiles | null;
  /** Other workers listen there too. */
  sharedPort?: boolean;
}): Promise<Address> {
  const { host, tls } = options;
  const port = options.port === 0 ? await freePort(host) : options.port;
  if (!options.sharedPort) await assertFree(host, port);
  const name = host.includes(":") ? `[${host}]` : host;
  return { host, port, tls, url: `${tls === null ? "http" : "https"}://${name}:${port}` };
}

/** Takes a connection over to another protocol; false: it is not for that. */
export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

export async function listen(
  handler: RequestListener,
  { host, port, tls }: Address,
  upgrade?: Upgrade,
): Promise<Listening> {
  let closing = false;
  const tracked = (req: IncomingMessage, res: ServerResponse) => {
    if (closing) res.setHeader("connection", "close");
    return handler(req, res);
  };
  const { server } = await listhen(tracked, {
    port: await freePort(LOOPBACK),
    hostname: LOOPBACK,
    https: tls === null ? false : { cert: tls.cert, key: tls.key },
    showURL: false,
    autoClose: false,
    isProd: true,
    isTest: true,
    public: false,
  });
  onlyHandler(server as Server, tracked);
  if (upgrade) takeUpgrades(server as Server, tracked, upgrade);
  tune(server as Server);
  answerBadRequests(server as Server);
  const handshakes = tls === null ? null : meterHandshakes(server);
  await moveTo(server as Server, host, port);
  return {
    async close(graceMs) {
      closing = true;
      const http = server as Server;
      const closed = new Promise<void>((resolve) => http.close(() => resolve()));
      http.closeIdleConnections();
      // Connections that become idle while the rest finishes.
      const sweep = setInterval(() => http.closeIdleConnections(), 50);
      const late = setTimeout(() => http.closeAllConnections(), graceMs);
      const silent = setTimeout(() => handshakes?.close(), Math.min(graceMs, HANDSHAKE_MS));
      await closed;
      clearInterval(sweep);
      clearTimeout(late);
      clearTimeout(silent);
    },
  };
}

/**
 * listhen adds a second listener to each request, of http-shutdown, which throws, and so ends the process, when a
 * request's socket is gone before its answer is written: anybody could bring that about. Closing is done here.
 */
function onlyHandler(server: Server, handler: RequestListener): void {
  server.removeAllListeners("request");
  server.on("request", handler);
}

/** A client may offer a protocol that nobody speaks here (RFC 9110, 7.8): its request is answered as if it had not. */
function takeUpgrades(server: Server, handler: RequestListener, upgrade: Upgrade): void {
  server.on("upgrade", (req, socket, head) => {
    if (upgrade(req, socket, head)) return;
    const res = new ServerResponse(req);
    res.assignSocket(socket as Socket);
    res.shouldKeepAlive = false;
    res.on("finish", () => socket.end());
    socket.on("error", () => socket.destroy());
    handler(req, res);
  });
}

function tune(server: Server): void {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.headersTimeout = HEADERS_MS;
  server.requestTimeout = REQUEST_MS;
  server.maxRequestsPerSocket = 0;
}

/** After a restart every agent connects at once; what does not fit the queue waits a second and more. */
const BACKLOG = 4096;

/**
 * listhen listens with Node's backlog of 511 and takes no other: listen again, on the same server. The first time is at a port
 * that nobody knows: closing would wait for whoever connected meanwhile, and agents knock all the time.
 */
async function moveTo(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => reject(listenError(error, host, port));
    server.once("error", failed);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", failed);
      resolve();
    });
  });
}

const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, 0)));
    // Among workers a port 0 would be the same port for all of them, shared.
    probe.listen({ port: 0, host, exclusive: true }, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** A port in use is told plainly, instead of another port being picked. */
const assertFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    probe.listen(port, host, () => probe.close(() => resolve()));
  });

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === "EADDRINUSE")
    return new BadSetting(`port: ${port} on ${host} is in use; choose another with --port`);
  if (error.code === "EACCES") return new BadSetting(`port: ${port} may not be used by this user`);
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return new BadSetting(`host: ${host} is not an address of this machine`);
  return error;
}
