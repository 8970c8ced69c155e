// The typed client: what it can call, and with what, is read from the table of endpoints.
import { type AnyEndpoint, fullPath, type InputOf, type ReplyOf } from "../api/endpoint.ts";
import { apiCallError, Unreachable } from "./errors.ts";
import { pause } from "./pause.ts";
import { type HttpReply, isConnectionLoss, networkSend, type Send, type TlsOptions, unreachable } from "./transport.ts";

export interface ClientOptions {
  readonly serverUrl: string;
  readonly token?: string;
  readonly userAgent?: string;
  /** Milliseconds without an answer. */
  readonly timeout?: number;
  readonly tls?: TlsOptions;
  /** Answers instead of the network. */
  readonly send?: Send;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  readonly signal?: AbortSignal;
  /** Told the server's version with each reply that names it. */
  readonly onServerVersion?: (version: string) => void;
  /** Told before a wait, so that a person can be told. */
  readonly onRetry?: (why: string, ms: number) => void;
}

export interface RawCall {
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  /** Beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}
export interface RawReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

const idempotent = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const tries = 4;
/** A server that asks for more than this is answered with its error instead. */
const longestWait = 30_000;

type RowOf<List> = List extends readonly (infer Row)[] ? Row : never;

export class ApiClient {
  readonly serverUrl: string;
  readonly #options: ClientOptions;
  readonly #send: Send;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.serverUrl = options.serverUrl.replace(/\/+$/, "");
    this.#send = options.send ?? networkSend({ timeout: options.timeout ?? 30_000, tls: options.tls ?? {} });
  }

  /** Calls an endpoint; the reply is typed, not validated: the server's tests answer for its shape. */
  async call<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: Pick<RawCall, "headers" | "signal"> = {},
  ): Promise<ReplyOf<E>> {
    const path = pathOf(endpoint, (input.params ?? {}) as Record<string, unknown>);
    const { status, headers, text } = await this.raw(endpoint.method, path, {
      ...options,
      ...(input.query === undefined ? {} : { query: input.query as Record<string, unknown> }),
      ...(input.body === undefined ? {} : { body: input.body }),
    });
    if (status < 200 || status > 299) throw apiCallError(status, headers, text);
    return parseReply(`${this.serverUrl}${path}`, text) as ReplyOf<E>;
  }

  /** One request as given, retried where that is safe. Replies of any status are returned. */
  async raw(method: string, path: string, { query, body, headers, signal }: RawCall = {}): Promise<RawReply> {
    const url = `${this.serverUrl}${path}${queryString(query)}`;
    const stop = anySignal(signal, this.#options.signal);
    for (let attempt = 1; ; attempt++) {
      stop?.throwIfAborted();
      let reply: HttpReply;
      let text: string;
      try {
        reply = await this.#send(url, this.#init(method, body, stop, headers));
        text = await reply.text();
      } catch (error) {
        stop?.throwIfAborted();
        if (attempt < tries && idempotent.has(method) && isConnectionLoss(error)) {
          await this.#wait("the connection was lost", backOff(attempt, this.#options.random ?? Math.random), stop);
          continue;
        }
        throw error instanceof Unreachable ? error : unreachable(url, error);
      }
      const version = reply.headers.get("x-svc-version");
      if (version) this.#options.onServerVersion?.(version);
      if (reply.status === 429 && attempt < tries) {
        const { retryAfter } = apiCallError(429, reply.headers, "");
        const ms = retryAfter === undefined ? backOff(attempt, this.#options.random ?? Math.random) : retryAfter * 1000;
        if (ms <= longestWait) {
          await this.#wait("the server asks to slow down", ms, stop);
          continue;
        }
      }
      return { status: reply.status, headers: reply.headers, text };
    }
  }

  /**
   * Opens an endpoint that streams. Not retried once it answers: the caller knows what it has and asks for the rest.
   * `headers` are added to the request (`Range`, `Last-Event-ID`).
   */
  async open<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    { headers = {}, signal }: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
  ): Promise<{ status: number; headers: HttpReply["headers"]; body: AsyncIterable<Uint8Array> }> {
    const path = pathOf(endpoint, (input.params ?? {}) as Record<string, unknown>);
    const url = `${this.serverUrl}${path}${queryString(input.query as Record<string, unknown> | undefined)}`;
    const stop = anySignal(signal, this.#options.signal);
    const init = this.#init(endpoint.method, input.body, stop);
    let reply: HttpReply;
    try {
      reply = await this.#send(url, {
        ...init,
        headers: { ...init.headers, accept: `${endpoint.produces ?? "*/*"}, application/json`, ...headers },
        streams: true,
      });
    } catch (error) {
      stop?.throwIfAborted();
      throw error instanceof Unreachable ? error : unreachable(url, error);
    }
    const version = reply.headers.get("x-svc-version");
    if (version) this.#options.onServerVersion?.(version);
    if (reply.status < 200 || reply.status > 299) throw apiCallError(reply.status, reply.headers, await reply.text());
    return { status: reply.status, headers: reply.headers, body: reply.body ?? noBytes() };
  }

  /**
   * The rows of a paged list, page by page and up to the limit; `more` with the last part when others exist. Where the endpoint can
   * list `after` an id and no other order is asked for it does: rows that come or go meanwhile then shift nothing.
   */
  async *pages<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(
    endpoint: E,
    input: InputOf<E>,
    key: K,
    limit = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<{ rows: RowOf<ReplyOf<E>[K]>[]; more: boolean }> {
    const query = { ...((input.query ?? {}) as Record<string, unknown>) };
    const keyset =
      "after" in shapeOf(endpoint.query) &&
      "meta" in shapeOf(endpoint.response) &&
      query.order_key === undefined &&
      query.order_direction === undefined &&
      query.after === undefined;
    const perPage = Math.max(1, Math.min(limit, 500));
    let count = 0;
    let last: unknown;
    for (let page = 0; ; page++) {
      const position = keyset ? { order_key: "id", ...(count === 0 ? {} : { after: String(idOf(last)) }) } : { page };
      const paged = { ...input, query: { ...query, ...position, per_page: perPage } } as InputOf<E>;
      const reply = await this.call(endpoint, paged);
      const part = reply[key] as readonly RowOf<ReplyOf<E>[K]>[];
      const rows = part.slice(0, limit - count);
      count += part.length;
      last = part.at(-1);
      const known = hasNext(reply) !== null;
      const next = part.length > 0 && (hasNext(reply) ?? part.length >= perPage);
      // Where the reply does not tell, the next page does.
      const ends = count > limit || !next || (count === limit && known);
      yield { rows, more: count > limit || (count === limit && known && next) };
      if (ends) return;
    }
  }

  /** As `pages`, all at once. */
  async all<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(
    endpoint: E,
    input: InputOf<E>,
    key: K,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<{ rows: RowOf<ReplyOf<E>[K]>[]; more: boolean }> {
    const all: RowOf<ReplyOf<E>[K]>[] = [];
    let some = false;
    for await (const { rows, more } of this.pages(endpoint, input, key, limit)) {
      for (const row of rows) all.push(row);
      some = more;
    }
    return { rows: all, more: some };
  }

  #init(method: string, body: unknown, signal: AbortSignal | undefined, more: RawCall["headers"] = {}) {
    const { token, userAgent } = this.#options;
    const headers: Record<string, string> = { accept: "application/json", ...more };
    if (userAgent) headers["user-agent"] = userAgent;
    if (token) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    return {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
  }

  async #wait(why: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.#options.onRetry?.(why, ms);
    await (this.#options.sleep ?? pause)(ms, signal);
  }
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const backOff = (attempt: number, random: () => number): number => 250 * 2 ** (attempt - 1) * (0.5 + random());

const shapeOf = (schema: AnyEndpoint["query"] | AnyEndpoint["response"]): object =>
  "shape" in schema && typeof schema.shape === "object" && schema.shape !== null ? schema.shape : {};

const idOf = (row: unknown): unknown => (typeof row === "object" && row !== null && "id" in row ? row.id : undefined);

/** Null for the lists whose replies do not tell: a full page may be followed by another. */
const hasNext = (reply: unknown): boolean | null => {
  const { meta } = reply as { meta?: { has_next_results?: boolean } };
  return meta === undefined ? null : meta.has_next_results === true;
};

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b);
}

export function pathOf(endpoint: AnyEndpoint, params: Record<string, unknown>): string {
  return fullPath(endpoint).replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

export function queryString(query: Record<string, unknown> | undefined): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, String(one));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

function parseReply(url: string, text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const { origin } = new URL(url);
    throw new Unreachable(url, `${origin} answered, but not with JSON: it is no svc server`, "NOT_JSON", error);
  }
}
