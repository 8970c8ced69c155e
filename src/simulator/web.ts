// HTTP of simulated devices: binary bodies, one pool of connections for the whole fleet.
import type { KeyObject } from "node:crypto";
import { Agent } from "undici";

interface WebSettings {
  readonly tls?: Trust;
  /** The certificate with which the client authenticates. */
  readonly identity?: ClientIdentity;
  readonly maxConnections: number;
}

/** The servers that are trusted. */
export interface Trust {
  readonly ca?: string;
  readonly insecure?: boolean;
}

interface ClientIdentity {
  /** DER. */
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

export interface WebReply {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

export interface WebRequest {
  readonly method: "GET" | "PUT" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Time limit for one reply, in milliseconds. Real devices wait for about a minute. */
const REPLY_TIMEOUT = 60_000;

export class Web {
  readonly #agent: Agent;

  constructor({ tls = {}, identity, maxConnections }: WebSettings) {
    this.#agent = new Agent({
      connections: maxConnections,
      headersTimeout: REPLY_TIMEOUT,
      bodyTimeout: REPLY_TIMEOUT,
      connect: {
        rejectUnauthorized: tls.insecure !== true,
        ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        ...(identity === undefined ? {} : pemOf(identity)),
      },
    });
  }

  /** Throws if there is no reply. */
  async call({ method, url, headers = {}, body }: WebRequest): Promise<WebReply> {
    const { origin, pathname, search } = new URL(url);
    const reply = await this.#agent.request({ origin, path: pathname + search, method, headers, body: body ?? null });
    const type = reply.headers["content-type"];
    return {
      status: reply.statusCode,
      type: typeof type === "string" ? type : "",
      body: Buffer.from(await reply.body.arrayBuffer()),
    };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

const pemOf = ({ certificate, key }: ClientIdentity) => ({
  cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  key: key.export({ type: "pkcs8", format: "pem" }) as string,
});
