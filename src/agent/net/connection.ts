// Requests to the server: through the proxies of the environment, with a private authority, and with pinned
// certificates.
import type { DetailedPeerCertificate, PeerCertificate } from "node:tls";
import { checkServerIdentity } from "node:tls";
import { type Dispatcher, EnvHttpProxyAgent, request } from "undici";
import { messageOf } from "../../text/error-message.ts";

/** Stock agents give up after the same time. */
const TIMEOUT_MS = 16_000;
const LONGEST_DOWNLOAD_MS = 15 * 60_000;
const LONGEST_REPLY = 8 * 1024 * 1024;

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Seconds by which this machine's clock is ahead of the server's, if that is more than a minute. */
  readonly aheadS?: number;
}

export interface StreamedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Has to be read to its end, or `text` called. */
  readonly parts: AsyncIterable<Buffer>;
  text(): Promise<string>;
}

/** No reply, or a part of one. */
export class Unreachable extends Error {}

interface ConnectionOptions {
  readonly serverUrl: string;
  readonly ca?: string;
  readonly pins: readonly string[];
  readonly version: string;
}

const plain = (fingerprint: string) => fingerprint.replaceAll(":", "").toLowerCase();

/** Whether a certificate of the chain has one of the pins. The root's issuer is the root itself. */
function isPinned(certificate: PeerCertificate, pins: ReadonlySet<string>): boolean {
  let link = certificate as DetailedPeerCertificate;
  for (;;) {
    if (pins.has(plain(link.fingerprint256))) return true;
    if (link.issuerCertificate === undefined || link.issuerCertificate === link) return false;
    link = link.issuerCertificate;
  }
}

export class Connection {
  readonly #base: string;
  readonly #agent: EnvHttpProxyAgent;
  readonly #userAgent: string;

  constructor({ serverUrl, ca, pins, version }: ConnectionOptions) {
    this.#base = serverUrl.replace(/\/+$/, "");
    this.#userAgent = `svc-agent/${version}`;
    const fingerprints = new Set(pins.map(plain));
    const tls = {
      ...(ca === undefined ? {} : { ca }),
      checkServerIdentity: (host: string, certificate: PeerCertificate) =>
        checkServerIdentity(host, certificate) ??
        (fingerprints.size === 0 || isPinned(certificate, fingerprints)
          ? undefined
          : new Error(`the server's certificate ${certificate.fingerprint256} is not a pinned one`)),
    };
    this.#agent = new EnvHttpProxyAgent({
      connect: { ...tls, timeout: 10_000 },
      requestTls: tls,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      keepAliveTimeout: 100_000,
    });
  }

  post(path: string, body: object, headers: Record<string, string> = {}): Promise<Reply> {
    const all = { ...headers, "content-type": "application/json", accept: "application/json" };
    return this.#send("POST", path, all, JSON.stringify(body));
  }

  head(path: string): Promise<Reply> {
    return this.#send("HEAD", path, {}, null);
  }

  /** A file that anybody may have, of at most `most` bytes. */
  bytes(path: string, most: number): Promise<Uint8Array> {
    return this.#bytes("GET", path, null, most);
  }

  /** The reply to a message, both in bytes. */
  postBytes(
    path: string,
    message: Uint8Array,
    most: number,
    headers: Record<string, string> = {},
  ): Promise<Uint8Array> {
    return this.#bytes("POST", path, message, most, headers);
  }

  async #bytes(
    method: "GET" | "POST",
    path: string,
    body: Uint8Array | null,
    most: number,
    headers: Record<string, string> = {},
  ): Promise<Uint8Array> {
    const url = `${this.#base}${path}`;
    const parts: Buffer[] = [];
    let size = 0;
    try {
      const reply = await request(url, {
        method,
        headers: { ...headers, "user-agent": this.#userAgent },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(LONGEST_DOWNLOAD_MS),
      });
      for await (const part of reply.body) {
        if (reply.statusCode !== 200) throw new Error(`status ${reply.statusCode}`);
        size += (part as Buffer).length;
        if (size > most) throw new Error("the reply is too long");
        parts.push(part as Buffer);
      }
      if (reply.statusCode !== 200) throw new Error(`status ${reply.statusCode}`);
      return Buffer.concat(parts);
    } catch (error) {
      throw new Unreachable(`${method} ${url}: ${connectionProblem(error)}`, { cause: error });
    }
  }

  /** For replies of any size. The signal ends it at any time. */
  async stream(
    path: string,
    body: object,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<StreamedReply> {
    const url = `${this.#base}${path}`;
    const failed = (error: unknown) => new Unreachable(`POST ${url}: ${connectionProblem(error)}`, { cause: error });
    try {
      const reply = await request(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "user-agent": this.#userAgent },
        body: JSON.stringify(body),
        dispatcher: this.#agent,
        signal,
      });
      async function* parts() {
        try {
          for await (const part of reply.body) yield part as Buffer;
        } catch (error) {
          throw failed(error);
        }
      }
      return {
        status: reply.statusCode,
        headers: reply.headers,
        parts: parts(),
        text: () => shortReply(reply.body).catch((error) => Promise.reject(failed(error))),
      };
    } catch (error) {
      throw failed(error);
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #send(
    method: "POST" | "HEAD",
    path: string,
    headers: Record<string, string>,
    body: string | null,
  ): Promise<Reply> {
    try {
      const reply = await request(`${this.#base}${path}`, {
        method,
        headers: { ...headers, "user-agent": this.#userAgent },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const ahead = secondsAhead(reply.headers.date);
      const text = await shortReply(reply.body);
      return { status: reply.statusCode, text, ...(ahead === null ? {} : { aheadS: ahead }) };
    } catch (error) {
      throw new Unreachable(`${method} ${this.#base}${path}: ${connectionProblem(error)}`, { cause: error });
    }
  }
}

/** `date`: the header of a reply. */
function secondsAhead(date: string | string[] | undefined): number | null {
  const seconds = (Date.now() - Date.parse(String(date))) / 1000;
  return Math.abs(seconds) > 60 ? Math.round(seconds) : null;
}

async function shortReply(body: Dispatcher.ResponseData["body"]): Promise<string> {
  let text = "";
  body.setEncoding("utf8");
  for await (const part of body) {
    text += part;
    if (text.length > LONGEST_REPLY) throw new Error("the reply is too long");
  }
  return text;
}

/** For a name with several addresses, Node reports one error for all, without a text of its own. */
function connectionProblem(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return connectionProblem(error.errors[0]);
  return messageOf(error);
}
