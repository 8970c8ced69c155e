import { readFileSync } from "node:fs";
import { createSecureContext, rootCertificates } from "node:tls";
import type { Wheel } from "../wheel.ts";
import type { Exchange, Origin, TlsSettings, WireRequest } from "./connection.ts";
import { Pool } from "./pool.ts";

/** The stock agent's time limit for one reply. */
const ANSWER_TIMEOUT_MS = 16_000;
const MAX_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 304, 305, 307, 308]);

type TransportSettings = {
  serverUrl: string;
  tls?: { ca?: string; caFile?: string; insecure?: boolean };
  maxConnections: number;
};

/** A call. The path is relative to the server; the fields are header lines that end with CRLF. */
export type Call = { path: string; fields: string; body: string | Buffer };

/** Connections to the server: one pool shared by all agents, or a pool of one connection for each agent thread. */
export class Transport {
  readonly basePath: string;
  readonly #origin: Origin;
  readonly #tls: TlsSettings;
  readonly #wheel: Wheel;
  readonly #shared: Pool;
  readonly #ownPools = new Set<Pool>();
  readonly #elsewhere = new Map<string, Pool>();
  readonly #limit: number;

  constructor(settings: TransportSettings, wheel: Wheel) {
    const url = new URL(settings.serverUrl);
    this.#origin = originOf(url);
    this.basePath = url.pathname.replace(/\/+$/, "");
    this.#tls = this.#origin.tls ? tlsSettings(settings.tls ?? {}) : {};
    this.#wheel = wheel;
    this.#limit = settings.maxConnections;
    this.#shared = new Pool(this.#origin, this.#tls, wheel, settings.maxConnections);
  }

  sharedChannel(): Channel {
    return new Channel(this, this.#shared);
  }

  ownChannel(): Channel {
    const pool = new Pool(this.#origin, this.#tls, this.#wheel, 1);
    this.#ownPools.add(pool);
    return new Channel(this, pool);
  }

  get connections(): number {
    let count = this.#shared.size;
    for (const pool of [...this.#ownPools, ...this.#elsewhere.values()]) count += pool.size;
    return count;
  }

  reset(): void {
    for (const pool of [this.#shared, ...this.#ownPools, ...this.#elsewhere.values()]) pool.reset();
  }

  close(): void {
    for (const pool of [this.#shared, ...this.#ownPools, ...this.#elsewhere.values()]) pool.close();
  }

  async exchange(pool: Pool, call: Call): Promise<Exchange> {
    const deadline = this.#wheel.now() + ANSWER_TIMEOUT_MS;
    let exchange = await pool.exchange(render(call, this.#origin), ANSWER_TIMEOUT_MS);
    let at = new URL(call.path, urlOf(this.#origin));
    for (let hops = 0; exchange.ok && REDIRECTS.has(exchange.answer.status); hops++) {
      const { location } = exchange.answer;
      if (location === null) return { ok: false, reason: "redirect", detail: "redirect without a location" };
      if (hops === MAX_REDIRECTS) return { ok: false, reason: "redirect", detail: "too many redirects" };
      if (!URL.canParse(location, at.href)) return { ok: false, reason: "redirect", detail: "bad location" };
      at = new URL(location, at);
      const origin = originOf(at);
      const target = this.#poolOf(origin);
      const remaining = deadline - this.#wheel.now();
      if (remaining <= 0) return { ok: false, reason: "timeout", detail: "timeout" };
      exchange = await target.exchange(render({ ...call, path: at.pathname + at.search }, origin), remaining);
    }
    return exchange;
  }

  #poolOf(origin: Origin): Pool {
    const key = urlOf(origin);
    if (key === urlOf(this.#origin)) return this.#shared;
    let pool = this.#elsewhere.get(key);
    if (!pool) {
      pool = new Pool(origin, this.#tls, this.#wheel, this.#limit);
      this.#elsewhere.set(key, pool);
    }
    return pool;
  }
}

/** The connection of one agent thread to the server. */
export class Channel {
  readonly #transport: Transport;
  readonly #pool: Pool;

  constructor(transport: Transport, pool: Pool) {
    this.#transport = transport;
    this.#pool = pool;
  }

  exchange(call: Call): Promise<Exchange> {
    return this.#transport.exchange(this.#pool, call);
  }
}

function render(call: Call, origin: Origin): WireRequest {
  const port = origin.port === (origin.tls ? 443 : 80) ? "" : `:${origin.port}`;
  const host = origin.host.includes(":") ? `[${origin.host}]` : origin.host;
  const length = Buffer.byteLength(call.body);
  const head = `POST ${call.path} HTTP/1.1\r\nHost: ${host}${port}\r\n${call.fields}Content-Length: ${length}\r\n\r\n`;
  return { head, body: call.body };
}

function originOf(url: URL): Origin {
  const tls = url.protocol === "https:";
  if (!tls && url.protocol !== "http:") throw new Error(`not an http or https address: ${url.href}`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return { tls, host, port: url.port ? Number(url.port) : tls ? 443 : 80 };
}

function urlOf(origin: Origin): string {
  const host = origin.host.includes(":") ? `[${origin.host}]` : origin.host;
  return `${origin.tls ? "https" : "http"}://${host}:${origin.port}`;
}

function tlsSettings(tls: { ca?: string; caFile?: string; insecure?: boolean }): TlsSettings {
  const ca = tls.ca ?? (tls.caFile ? readFileSync(tls.caFile, "utf8") : undefined);
  // All connections share one context, because building one costs more than a handshake.
  const context = createSecureContext({ ca: ca ?? [...rootCertificates], minVersion: "TLSv1.2" });
  return { context, insecure: tls.insecure ?? false };
}
