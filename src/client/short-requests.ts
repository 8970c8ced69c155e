// Requests whose body is a text and whose reply is short, which are nearly all. Node's own client is loaded in a fifth
// of the time that undici needs, which is more than the rest of a short command; undici sends and receives streams.

import * as http from "node:http";
import * as https from "node:https";
import type { HttpReply, SendInit, TlsOptions } from "./exchange.ts";

/** In milliseconds. */
interface Limits {
  readonly connectTimeout: number;
  /** From the request to the first byte of the reply. */
  readonly firstByteTimeout: number;
  /** Between parts of the reply. */
  readonly partTimeout: number;
}

/** Idle connections are closed early: a request on one that a proxy is about to close would fail. */
const IDLE_MS = 4_000;

/** Without TLS the name is not sent, but would be computed, which takes a few milliseconds. */
const withoutServerName = { servername: "" };

/** Sends requests, over connections that are kept open as long as the process has something else to do. */
export class ShortRequests {
  readonly #tls: TlsOptions;
  #plain: http.Agent | undefined;
  #secure: https.Agent | undefined;

  constructor(tls: TlsOptions) {
    this.#tls = tls;
  }

  send(url: string, init: SendInit, body: string | undefined, limits: Limits): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const request = this.#open(url, init, body, limits);
      let open: http.ClientRequest | http.IncomingMessage = request;
      const endLate = () => open.destroy(Object.assign(new Error("timed out"), { code: "ETIMEDOUT" }));
      const connecting = setTimeout(endLate, limits.connectTimeout);
      const isConnected = () => clearTimeout(connecting);
      request.on("socket", (socket) => {
        if (socket.connecting) socket.once("encrypted" in socket ? "secureConnect" : "connect", isConnected);
        else isConnected();
      });
      request.on("timeout", endLate);
      request.on("error", (error) => {
        isConnected();
        reject(withReason(error));
      });
      request.on("response", (response) => {
        open = response;
        request.setTimeout(limits.partTimeout);
        resolve(replyOf(response));
      });
      request.end(body);
    });
  }

  #open(
    url: string,
    { method, headers, signal }: SendInit,
    body: string | undefined,
    { firstByteTimeout }: Limits,
  ): http.ClientRequest {
    const options = {
      method,
      timeout: firstByteTimeout,
      headers: body === undefined ? headers : { ...headers, "content-length": Buffer.byteLength(body) },
      ...(signal === undefined ? {} : { signal }),
    };
    if (!url.startsWith("https:")) {
      this.#plain ??= new http.Agent({ keepAlive: true, timeout: IDLE_MS });
      return http.request(url, { ...options, ...withoutServerName, agent: this.#plain });
    }
    this.#secure ??= new https.Agent({
      keepAlive: true,
      timeout: IDLE_MS,
      ...(this.#tls.ca === undefined ? {} : { ca: this.#tls.ca }),
      ...(this.#tls.insecure ? { rejectUnauthorized: false } : {}),
    });
    return https.request(url, { ...options, agent: this.#secure });
  }
}

/**
 * Node's client sends the request during the handshake of TLS. If that fails, it reports EPROTO, and has the reason of
 * OpenSSL only in the message: `write EPROTO C0:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:...`.
 */
function withReason(error: NodeJS.ErrnoException): Error {
  const reason = error.code === "EPROTO" ? /:SSL routines:[^:]*:([^:]+):/.exec(error.message)?.[1] : undefined;
  if (reason === undefined) return error;
  return Object.assign(new Error(error.message), { code: `ERR_SSL_${reason.toUpperCase().replaceAll(/\W+/g, "_")}` });
}

const replyOf = (response: http.IncomingMessage): HttpReply => ({
  status: response.statusCode ?? 0,
  headers: {
    get(name) {
      const value = response.headers[name.toLowerCase()];
      return value === undefined ? null : Array.isArray(value) ? value.join(", ") : value;
    },
  },
  async text() {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return new TextDecoder().decode(Buffer.concat(chunks));
  },
  body: response,
});
