// HTTP of simulated devices: binary bodies, one pool of connections for the whole fleet.
import { Agent } from "undici";

export interface WebSettings {
  readonly tls?: { readonly ca?: string; readonly insecure?: boolean };
  readonly maxConnections: number;
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
  private readonly agent: Agent;

  constructor({ tls = {}, maxConnections }: WebSettings) {
    this.agent = new Agent({
      connections: maxConnections,
      headersTimeout: REPLY_TIMEOUT,
      bodyTimeout: REPLY_TIMEOUT,
      connect: { rejectUnauthorized: tls.insecure !== true, ...(tls.ca === undefined ? {} : { ca: tls.ca }) },
    });
  }

  /** Throws if there is no reply. */
  async call({ method, url, headers = {}, body }: WebRequest): Promise<WebReply> {
    const { origin, pathname, search } = new URL(url);
    const reply = await this.agent.request({ origin, path: pathname + search, method, headers, body: body ?? null });
    const type = reply.headers["content-type"];
    return {
      status: reply.statusCode,
      type: typeof type === "string" ? type : "",
      body: Buffer.from(await reply.body.arrayBuffer()),
    };
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}
