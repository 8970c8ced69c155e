// Sends requests: over the network, or to another handler with the interface of fetch (in tests, the app itself).

import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { Unreachable } from "./errors.ts";
import type { HttpReply, SendInit, TlsOptions } from "./exchange.ts";
import { ShortRequests } from "./short-requests.ts";

/** A body that is sent while it is read. */
export interface UploadBody {
  readonly type: string;
  /** Null if it is not known before the end. */
  readonly size: number | null;
  readonly canRepeat: boolean;
  open(): AsyncIterable<Uint8Array>;
}
export type Send = (url: string, init: SendInit) => HttpReply | Promise<HttpReply>;

/** For replies that may take minutes, and for uploads: the server still has to store the file when it has received it. */
const SLOW_MS = 10 * 60_000;

/** Loaded with the first request that is or gets a stream. */
async function loadUndici() {
  // undici parses replies with WebAssembly. Node 20 soon compiles that once more with the optimizing compiler, which
  // takes longer than most commands. Later versions of Node wait longer before they do so.
  if (process.versions.node.startsWith("20."))
    (await import("node:v8")).setFlagsFromString("--wasm-tiering-budget=100000000");
  return import("./undici-parts.ts");
}

export function networkSend({ timeout, tls = {} }: { timeout: number; tls?: TlsOptions }): Send {
  let agent: Dispatcher | undefined;
  const connectTimeout = Math.min(timeout, 10_000);
  const short = new ShortRequests(tls);
  return async (url, init) => {
    const { body, signal, method, headers, streams = false, isSlow = false } = init;
    if (!streams && (body === undefined || typeof body === "string"))
      return short.send(url, init, body, {
        connectTimeout,
        firstByteTimeout: isSlow ? Math.max(timeout, SLOW_MS) : timeout,
        partTimeout: timeout,
      });
    const { Agent, request } = await loadUndici();
    agent ??= new Agent({
      connect: {
        timeout: connectTimeout,
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        ...(tls.insecure ? { rejectUnauthorized: false } : {}),
      },
      headersTimeout: timeout,
      bodyTimeout: timeout,
    });
    const { origin, pathname, search } = new URL(url);
    const reply = await request.call(agent, {
      origin,
      path: `${pathname}${search}`,
      method: method as "GET",
      headers,
      ...(body === undefined ? {} : typeof body === "string" ? { body } : uploaded(body)),
      ...(signal === undefined ? {} : { signal }),
      ...(streams ? { bodyTimeout: 0 } : {}),
      ...(isSlow ? { headersTimeout: Math.max(timeout, SLOW_MS) } : {}),
    });
    return {
      status: reply.statusCode,
      headers: {
        get(name) {
          const value = reply.headers[name.toLowerCase()];
          return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
        },
      },
      text: () => reply.body.text(),
      body: reply.body,
    };
  };
}

/** One chunk waits here while the one before is in the socket, and another is read: see `UploadSource.open`. */
const uploaded = (body: AsyncIterable<Uint8Array>) => ({
  body: Readable.from(body, { highWaterMark: 1 }),
  headersTimeout: SLOW_MS,
});

export const errorCode = (error: unknown): string | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if (at instanceof AggregateError && at.errors.length > 0) return errorCode(at.errors[0]);
  }
  return undefined;
};

const lost = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "ECONNABORTED", "UND_ERR_CLOSED"]);

/** Whether the connection broke during the request. The server may or may not have received it. */
export const isConnectionLoss = (error: unknown): boolean => lost.has(errorCode(error) ?? "");

/** Errors of the handshake: what replies at the address speaks no TLS, such as plain HTTP. */
const notTls = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/;

/** Whether the server of an https address replied with something that is not TLS. */
export const isNotTls = (code: string | undefined): boolean => code !== undefined && notTls.test(code);

/**
 * Errors of a certificate: those of Node and OpenSSL for the verification (X509_V_ERR_* without the prefix), whose
 * names do not follow one pattern.
 */
const ofCertificate =
  /CERT_|_CERT$|_CRL$|CRL_|^UNABLE_TO_|HOSTNAME_MISMATCH|^INVALID_(?:CA|PURPOSE)$|^PATH_LENGTH_EXCEEDED$|^CERT/;

/** Whether the certificate of the server is refused, as opposed to another failure of the connection. */
export const isCertificateError = (code: string | undefined): boolean =>
  code !== undefined && !/ALERT/.test(code) && ofCertificate.test(code);

/** Whether an error code concerns TLS rather than the network. */
export const isTlsError = (code: string | undefined): boolean =>
  code !== undefined && (isNotTls(code) || isCertificateError(code) || /SSL|TLS|^EPROTO$/.test(code));

/** What is wrong with the certificate; an authority that is trusted would not mend all of it. */
function certificateReason(host: string, code: string | undefined): string {
  if (code === "CERT_HAS_EXPIRED") return `the certificate of ${host} has expired (${code})`;
  if (code === "CERT_NOT_YET_VALID") return `the certificate of ${host} is not valid yet (${code})`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH")
    return `the certificate of ${host} is for other names (${code})`;
  return `the certificate of ${host} is not trusted (${code})`;
}

const late = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

export function unreachable(url: string, error: unknown): Unreachable {
  const code = errorCode(error);
  const { host } = new URL(url);
  const reason =
    code === "ECONNREFUSED"
      ? `no server is listening at ${host}`
      : code === "ENOTFOUND" || code === "EAI_AGAIN"
        ? `the name ${host} cannot be resolved`
        : code !== undefined && late.has(code)
          ? `${host} does not respond in time`
          : isNotTls(code)
            ? `the server at ${host} does not speak TLS (${code})`
            : isCertificateError(code)
              ? certificateReason(host, code)
              : isTlsError(code)
                ? `no TLS connection to ${host} can be made (${code})`
                : `the connection to ${host} failed (${code ?? (error instanceof Error ? error.message : "unknown")})`;
  return new Unreachable(url, reason, code, error);
}
