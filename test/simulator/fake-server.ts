import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Wheel } from "../../src/simulator/wheel.ts";

export type SeenRequest = {
  endpoint: string;
  url: string;
  body: Record<string, unknown>;
  headers: IncomingMessage["headers"];
  port: number;
  at: number;
};
/**
 * The server's reaction to a request: a body with status 200, status and body, or its own handling; undefined = the
 * default.
 */
export type Act =
  | string
  | { status: number; body?: string; headers?: Record<string, string> }
  | ((res: ServerResponse) => void);
export type Script = (seen: SeenRequest, nth: number) => Act | undefined;

const DEFAULTS: Record<string, (n: number) => string> = {
  enroll: (n) => `{"node_key":"key-${n}"}`,
  config: () => `{"options":{},"schedule":{}}`,
};

/** A server that a test controls, and a clock that the test advances. */
export class FakeServer {
  readonly seen: SeenRequest[] = [];
  script: Script = () => undefined;
  url = "";
  now = 1000;
  readonly wheel = new Wheel(() => this.now);
  readonly wallClock = () => 1_760_000_000_000 + this.now;
  readonly #server: Server;

  private constructor(tls?: { key: string; cert: string }) {
    const handle = (req: IncomingMessage, res: ServerResponse) => this.#handle(req, res);
    const settings = { keepAliveTimeout: 120_000 };
    this.#server = tls ? createTlsServer({ ...settings, ...tls }, handle) : createServer(settings, handle);
  }

  static async start(tls?: { key: string; cert: string }): Promise<FakeServer> {
    const fake = new FakeServer(tls);
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    fake.url = `${tls ? "https" : "http"}://127.0.0.1:${(fake.#server.address() as AddressInfo).port}`;
    return fake;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  of(endpoint: string): SeenRequest[] {
    return this.seen.filter((seen) => seen.endpoint === endpoint);
  }

  /** Advances the clock in steps while real bytes are transferred, until the condition is true. */
  async until(condition: () => boolean, limitMs = 3_600_000, stepMs = 100): Promise<void> {
    const end = this.now + limitMs;
    for (let quiet = 0; !condition(); quiet++) {
      await breathe();
      if (condition()) return;
      if (this.now > end)
        throw new Error(`nothing happened; seen: ${this.seen.map((seen) => seen.endpoint).join(" ")}`);
      if (this.#busy > 0 && quiet < 200) continue;
      quiet = 0;
      this.now += stepMs;
      this.wheel.advance();
    }
  }

  /** Advances the clock by this much, step by step. */
  async pass(ms: number, stepMs = 100): Promise<void> {
    const end = this.now + ms;
    await this.until(() => this.now >= end, ms + 1000, stepMs);
    await breathe();
  }

  /** Requests without a reply so far. */
  #busy = 0;

  #handle(req: IncomingMessage, res: ServerResponse): void {
    const chunks: Buffer[] = [];
    this.#busy++;
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("error", () => {});
    res.on("close", () => {
      this.#busy--;
    });
    req.on("end", () => {
      const raw = Buffer.concat(chunks);
      const text = (req.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw).toString();
      const endpoint = (req.url ?? "").split("/qengine/")[1] ?? (req.url as string);
      const port = req.socket.remotePort ?? 0;
      const seen = { endpoint, url: req.url ?? "", body: JSON.parse(text), headers: req.headers, port, at: this.now };
      this.seen.push(seen);
      const nth = this.of(endpoint).length;
      const act = this.script(seen, nth) ?? DEFAULTS[endpoint]?.(nth) ?? "{}";
      if (typeof act === "function") {
        // A reply of a function may never come; the clock must not wait for it.
        this.#busy--;
        res.on("close", () => {
          this.#busy++;
        });
        act(res);
      } else if (typeof act === "string") res.end(act);
      else res.writeHead(act.status, act.headers).end(act.body ?? "");
    });
  }
}

/** Lets sockets and promises of this process proceed. */
export async function breathe(): Promise<void> {
  for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve));
}
