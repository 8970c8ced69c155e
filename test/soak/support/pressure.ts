// Clients that send requests without a pause while a server is restarted, and what became of each request.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Agent } from "undici";
import { pause } from "./check.ts";

export interface Target {
  readonly url: string;
  /** The certificate to trust (PEM). */
  readonly ca?: string;
}

export interface PressureRequest {
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** `kept`: one connection for as long as the server keeps it; `single`: a connection for each request. */
export type Kind = "kept" | "single";

export interface Crowd {
  readonly kind: Kind;
  readonly clients: number;
  /** Pause between an answer and the client's next request. */
  readonly thinkMs?: number;
  /** Sends at this interval whether or not the previous request has been answered, as many unconnected clients do. */
  readonly everyMs?: number;
}

export interface Tally {
  asked: number;
  answered: number;
  /** Replies of a server that has more to do than it can: 503. On a busy machine that happens right after a start. */
  overloaded: number;
  /** Times (`performance.now()`) at which a connection was refused: nobody listened. */
  readonly refused: number[];
  /** Connections that were cut with a request on them, other replies than 200, and times. */
  readonly failures: { readonly at: number; readonly kind: Kind; readonly reason: string }[];
}

const OVERLOADED = /busy|waited too long/;

export class Pressure {
  readonly tally: Tally = { asked: 0, answered: 0, overloaded: 0, refused: [], failures: [] };
  readonly #target: Target;
  readonly #asked: readonly PressureRequest[];
  readonly #loops: Promise<void>[] = [];
  #over = false;

  constructor(target: Target, asked: readonly PressureRequest[]) {
    this.#target = target;
    this.#asked = asked;
  }

  add({ kind, clients, thinkMs = 0, everyMs }: Crowd): void {
    for (let client = 0; client < clients; client++)
      this.#loops.push(everyMs === undefined ? this.#closed(kind, client, thinkMs) : this.#open(kind, client, everyMs));
  }

  async stop(): Promise<Tally> {
    this.#over = true;
    await Promise.all(this.#loops);
    return this.tally;
  }

  async #closed(kind: Kind, client: number, thinkMs: number): Promise<void> {
    const send = senderOf(kind, this.#target);
    for (let turn = client; !this.#over; turn++) {
      const wasRefused = await this.#once(kind, send, this.#asked[turn % this.#asked.length]!);
      // Nobody listens: a client that came again at once would only take the CPU from the server's start.
      const wait = wasRefused ? 100 : thinkMs;
      if (wait > 0) await pause(wait);
    }
    await send.close();
  }

  async #open(kind: Kind, client: number, everyMs: number): Promise<void> {
    const send = senderOf(kind, this.#target);
    const pending = new Set<Promise<unknown>>();
    for (let turn = client; !this.#over; turn++) {
      const sent = this.#once(kind, send, this.#asked[turn % this.#asked.length]!);
      pending.add(sent);
      void sent.then(() => pending.delete(sent));
      await pause(everyMs * (0.5 + Math.random()));
    }
    await Promise.all(pending);
    await send.close();
  }

  async #once(kind: Kind, send: Sender, asked: PressureRequest): Promise<boolean> {
    this.tally.asked++;
    try {
      const { status, text } = await send.send(asked);
      this.tally.answered++;
      if (status === 503 && OVERLOADED.test(text)) this.tally.overloaded++;
      else if (status !== 200) this.#failed(kind, `${asked.method} ${asked.path}: ${status} ${text}`);
      return false;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason.includes("ECONNREFUSED")) {
        this.tally.refused.push(performance.now());
        return true;
      }
      this.#failed(kind, `${asked.method} ${asked.path}: ${reason}`);
      return false;
    }
  }

  #failed(kind: Kind, reason: string): void {
    this.tally.failures.push({ at: performance.now(), kind, reason });
  }
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

interface Sender {
  send(asked: PressureRequest): Promise<Reply>;
  close(): Promise<void>;
}

const senderOf = (kind: Kind, target: Target): Sender => (kind === "kept" ? kept(target) : single(target));

function kept({ url, ca }: Target): Sender {
  const agent = new Agent({ connections: 1, connect: ca === undefined ? {} : { ca } });
  return {
    async send({ path, method, headers = {}, body = null }) {
      const { statusCode, body: reply } = await agent.request({ origin: url, path, method, headers, body });
      return { status: statusCode, text: await reply.text() };
    },
    close: () => agent.destroy(),
  };
}

function single({ url, ca }: Target): Sender {
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  return {
    send: ({ path, method, headers = {}, body }) =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}${path}`, { method, headers, agent: false, ...(ca === undefined ? {} : { ca }) });
        sent.on("error", reject);
        sent.on("response", (reply) => {
          reply.on("error", reject);
          let text = "";
          reply.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk;
          });
          reply.on("end", () => resolve({ status: reply.statusCode ?? 0, text }));
        });
        sent.end(body);
      }),
    close: async () => {},
  };
}

function reasonOf(error: unknown): string {
  const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: unknown };
  const own = [code, message].filter(Boolean).join(" ");
  return cause === undefined ? own : `${own} (${reasonOf(cause)})`;
}
