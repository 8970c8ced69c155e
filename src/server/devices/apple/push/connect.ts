// Opens HTTP/2 connections to the push service: directly, through a proxy (CONNECT), or unencrypted to this machine.
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { type Socket, connect as tcpConnect } from "node:net";
import { type TLSSocket, connect as tlsConnect } from "node:tls";
import { seconds } from "../../../platform/core/clock.ts";
import { proxyFor } from "../../../platform/core/outbound/proxy.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";

/** The client certificate with which the server identifies itself to the push service. */
export interface ClientCertificate {
  /** PEM, with the chain. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
}

const CONNECT_TIMEOUT = seconds(15);
const MAX_PROXY_REPLY = 16_384;

export async function connectToPushService(
  settings: Pick<Settings, "apns_url" | "https_proxy" | "no_proxy">,
  { certificate, key }: ClientCertificate,
): Promise<ClientHttp2Session> {
  const url = new URL(settings.apns_url);
  if (url.protocol === "http:") return connect(url);
  const proxy = proxyFor(settings, url);
  const tunnel = proxy === null ? undefined : await openTunnel(proxy, url);
  const socket = await secured(url, tunnel, { cert: certificate, key });
  return connect(url, { createConnection: () => socket });
}

const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));
const plainName = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

function secured(url: URL, tunnel: Socket | undefined, identity: { cert: string; key: string }): Promise<TLSSocket> {
  const host = plainName(url);
  const to = tunnel === undefined ? { host, port: portOf(url) } : { socket: tunnel };
  const socket = tlsConnect({ ...to, ...identity, servername: host, ALPNProtocols: ["h2"] });
  return within(socket, "secureConnect", () => {
    if (socket.alpnProtocol !== "h2") throw new Error(`${host} does not support HTTP/2`);
    return socket;
  });
}

/** A connection through the proxy (RFC 9110, 9.3.6). */
async function openTunnel(proxy: URL, url: URL): Promise<Socket> {
  const to = { host: plainName(proxy), port: portOf(proxy) };
  const isSecure = proxy.protocol === "https:";
  const socket = isSecure ? tlsConnect({ ...to, servername: to.host }) : tcpConnect(to);
  await within(socket, isSecure ? "secureConnect" : "connect", () => null);
  const target = `${url.hostname}:${portOf(url)}`;
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const auth = proxy.username === "" ? "" : `Proxy-Authorization: Basic ${Buffer.from(login).toString("base64")}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${auth}\r\n`);
  const reply = await within(socket, "readable", () => headOf(socket));
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(reply)?.[1];
  if (status?.startsWith("2")) return socket;
  socket.destroy();
  throw new Error(`the proxy ${proxy.host} refused a connection to ${target} (status ${status ?? "unknown"})`);
}

/** The head of the proxy's reply, up to the empty line. */
async function headOf(socket: Socket): Promise<string> {
  let head = "";
  while (!head.endsWith("\r\n\r\n")) {
    // Byte by byte: what follows the empty line belongs to the connection behind the proxy.
    const byte = socket.read(1) as Buffer | null;
    if (byte !== null) head += byte.toString("latin1");
    else if (socket.readableEnded || socket.destroyed) throw new Error("the proxy closed the connection");
    else await new Promise((resolve) => socket.once("readable", resolve).once("close", resolve));
    if (head.length > MAX_PROXY_REPLY) throw new Error("the reply of the proxy is too long");
  }
  return head;
}

/** Waits for the event, and then for the work. Closes the socket if they fail or take too long. */
async function within<R>(socket: Socket, event: string, work: () => Promise<R> | R): Promise<R> {
  const over = new AbortController();
  const timeout = setTimeout(() => over.abort(new Error("the connection took too long")), CONNECT_TIMEOUT);
  const onClose = () => over.abort(new Error("the connection was closed"));
  const onError = (error: Error) => over.abort(error);
  socket.on("close", onClose).on("error", onError);
  try {
    const failure = once(over.signal, "abort").then(() => Promise.reject(over.signal.reason));
    return await Promise.race([once(socket, event).then(work), failure]);
  } catch (error) {
    socket.on("error", () => {});
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timeout);
    socket.off("close", onClose).off("error", onError);
  }
}
