// The typed API client. The endpoints' declarations define the calls and their types.

import type { UploadSource } from "../api/bodies.ts";
import { DRY_RUN, DRY_RUN_FEATURE, DRY_RUN_UNCHECKED, dryRunOf, FEATURES } from "../api/dry-run.ts";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import { hasQueryField, outlineOf } from "../api/outline.ts";
import type { Upload } from "../api/platform/uploads.ts";
import { versionApi } from "../api/settings/version.ts";
import { apiCallError, DryRunNotSupported, Unreachable } from "./errors.ts";
import type { HttpReply, TlsOptions } from "./exchange.ts";
import { pause } from "./pause.ts";
import { parseReply, pathOf, queryString } from "./requests.ts";
import { isConnectionLoss, networkSend, type Send, type UploadBody, unreachable } from "./transport.ts";

/** Bytes of the next piece at most; lowered when a proxy refuses one. */
export interface PieceSize {
  bytes: number;
}

export interface ClientOptions {
  readonly serverUrl: string;
  readonly token?: string;
  readonly userAgent?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit for a reply, in milliseconds. */
  readonly timeout?: number;
  readonly tls?: TlsOptions;
  /** Handles requests instead of the network. */
  readonly send?: Send;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random?: () => number;
  readonly signal?: AbortSignal;
  /** Called with the server's version, for each reply that contains it. */
  readonly onServerVersion?: (version: string) => void;
  /** Whether requests that would change something are sent as dry runs. */
  readonly dryRun?: boolean;
  /** Called with a description of what a dry run could not check. */
  readonly onUnchecked?: (what: string) => void;
  /** Called before the client waits to retry, so that the user can be notified. */
  readonly onRetry?: (why: string, ms: number) => void;
}

/** Called with the number of bytes that were sent, and that of all if it is known. */
export type OnSent = (sent: number, total: number | null) => void;

export interface RawCall {
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
  /** A body that is not JSON, instead of `body`. */
  readonly upload?: UploadBody;
  readonly onSent?: OnSent;
  /** Added to the headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Whether the reply may take minutes. */
  readonly isSlow?: boolean;
  /** Default: the client's `dryRun` option, for methods that change something. */
  readonly dryRun?: boolean;
  /** Whether the reply contains the body as bytes too. */
  readonly wantsBytes?: boolean;
}
type CallInput = {
  readonly [K in Exclude<keyof RawCall, "dryRun">]?: RawCall[K] | undefined;
};

export interface RawReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  /** Only for calls with `wantsBytes`. */
  readonly bytes?: Uint8Array;
}

const idempotent = new Set(["GET", "HEAD", "PUT", "DELETE"]);
const tries = 4;
/** If the server asks for a longer wait, its error is returned instead. */
const longestWait = 30_000;

type RowOf<List> = List extends readonly (infer Row)[] ? Row : never;

export class ApiClient {
  readonly serverUrl: string;
  readonly #options: ClientOptions;
  readonly #send: Send;
  /** Null until the first reply. */
  #hasDryRun: boolean | null = null;
  /** Null until the first upload. */
  #pieces: PieceSize | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.serverUrl = options.serverUrl.replace(/\/+$/, "");
    this.#send = options.send ?? networkSend({ timeout: options.timeout ?? 30_000, tls: options.tls ?? {} });
  }

  /** Calls an endpoint. The reply is typed but not validated, because the server's tests check its shape. */
  async call<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: Pick<RawCall, "headers" | "signal" | "onSent"> = {},
  ): Promise<ReplyOf<E>> {
    const path = pathOf(endpoint, (input.params ?? {}) as Record<string, unknown>);
    const { status, headers, text } = await this.raw(endpoint.method, path, {
      ...options,
      isSlow: endpoint.isSlow,
      ...(this.#options.dryRun ? { dryRun: dryRunOf(endpoint) !== false } : {}),
      ...(input.query === undefined ? {} : { query: input.query as Record<string, unknown> }),
      ...(await this.#bodyOf(endpoint, input.body, options)),
    });
    if (status < 200 || status > 299) throw apiCallError(status, headers, text, endpoint);
    return parseReply(`${this.serverUrl}${path}`, text) as ReplyOf<E>;
  }

  /** Sends one request, with retries if they are safe. Returns replies of any status. */
  async raw(method: string, path: string, call: RawCall = {}): Promise<RawReply> {
    const { dryRun, ...request } = call;
    const triesOut = dryRun ?? (this.#options.dryRun === true && method !== "GET");
    if (triesOut) await this.#requireDryRun();
    const headers = triesOut ? { ...call.headers, [DRY_RUN]: "true" } : call.headers;
    const reply = await this.#request(method, path, { ...request, headers });
    if (triesOut && reply.status >= 200 && reply.status <= 299) {
      // Servers of different versions may share an address, so another one than the one that was checked may have
      // replied.
      if (reply.headers.get(DRY_RUN) !== "true") throw new DryRunNotSupported(true);
      const unchecked = reply.headers.get(DRY_RUN_UNCHECKED);
      if (unchecked) this.#options.onUnchecked?.(unchecked);
    }
    return reply;
  }

  /** An older server would ignore the header and carry the request out. */
  async #requireDryRun(): Promise<void> {
    if (this.#hasDryRun === null) await this.#request("GET", pathOf(versionApi.get, {}), {});
    if (this.#hasDryRun !== true) throw new DryRunNotSupported(false);
  }

  async #request(method: string, path: string, input: CallInput): Promise<RawReply> {
    const { query, upload, signal } = input;
    const url = `${this.serverUrl}${path}${queryString(query)}`;
    const stop = anySignal(signal, this.#options.signal);
    const canRepeat = upload === undefined || upload.canRepeat;
    for (let attempt = 1; ; attempt++) {
      stop?.throwIfAborted();
      let reply: HttpReply;
      let content: Pick<RawReply, "text" | "bytes">;
      try {
        reply = await this.#send(url, this.#init(method, input, stop));
        content = input.wantsBytes ? await bytesOf(reply) : { text: await reply.text() };
      } catch (error) {
        stop?.throwIfAborted();
        if (attempt < tries && canRepeat && idempotent.has(method) && isConnectionLoss(error)) {
          await this.#wait("the connection was lost", backOff(attempt, this.#options.random ?? Math.random), stop);
          continue;
        }
        throw error instanceof Unreachable ? error : unreachable(url, error);
      }
      const version = reply.headers.get("x-svc-version");
      if (version) this.#options.onServerVersion?.(version);
      if (version) this.#hasDryRun = (reply.headers.get(FEATURES) ?? "").split(/,\s*/).includes(DRY_RUN_FEATURE);
      if (reply.status === 429 && canRepeat && attempt < tries) {
        const { retryAfter } = apiCallError(429, reply.headers, "");
        const ms = retryAfter === undefined ? backOff(attempt, this.#options.random ?? Math.random) : retryAfter * 1000;
        if (ms <= longestWait) {
          await this.#wait("the server limits the rate of requests", ms, stop);
          continue;
        }
      }
      return { status: reply.status, headers: reply.headers, ...content };
    }
  }

  /**
   * Opens a streaming endpoint. Not retried once it has replied, because only the caller knows which part to request
   * again.
   * `headers` are added to the request (`Range`, `Last-Event-ID`).
   */
  async open<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    { headers = {}, signal }: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
  ): Promise<{ status: number; headers: HttpReply["headers"]; body: AsyncIterable<Uint8Array> }> {
    if (this.#options.dryRun && dryRunOf(endpoint) !== false) throw new DryRunNotSupported(false);
    const path = pathOf(endpoint, (input.params ?? {}) as Record<string, unknown>);
    const url = `${this.serverUrl}${path}${queryString(input.query as Record<string, unknown> | undefined)}`;
    const stop = anySignal(signal, this.#options.signal);
    const init = this.#init(endpoint.method, { body: input.body }, stop);
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
    if (reply.status < 200 || reply.status > 299)
      throw apiCallError(reply.status, reply.headers, await reply.text(), endpoint);
    return { status: reply.status, headers: reply.headers, body: reply.body ?? noBytes() };
  }

  /**
   * The rows of a paged list, page by page, up to the limit; the last page has `more` if there are further rows. If
   * the endpoint supports `after` and the order by id, and no other order is requested, pages are requested by id, so that concurrent
   * changes do not shift rows.
   */
  async *pages<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(
    endpoint: E,
    input: InputOf<E>,
    key: K,
    limit = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<{ rows: RowOf<ReplyOf<E>[K]>[]; more: boolean }> {
    const query = { ...((input.query ?? {}) as Record<string, unknown>) };
    const { hasIdOrder, hasMeta } = outlineOf(endpoint);
    const keyset =
      hasQueryField(endpoint, "after") &&
      hasIdOrder &&
      hasMeta &&
      query.order_key === undefined &&
      query.order_direction === undefined &&
      query.after === undefined;
    const isPaged = hasQueryField(endpoint, "page");
    const perPage = Math.max(1, Math.min(limit, 500));
    let count = 0;
    let last: unknown;
    for (let page = 0; ; page++) {
      const position = keyset ? { order_key: "id", ...(count === 0 ? {} : { after: String(idOf(last)) }) } : { page };
      const paging = isPaged ? { ...position, per_page: perPage } : {};
      const paged = { ...input, query: { ...query, ...paging } } as InputOf<E>;
      const reply = await this.call(endpoint, paged);
      // Some endpoints leave out a list without rows.
      const part = (reply[key] ?? []) as readonly RowOf<ReplyOf<E>[K]>[];
      const rows = part.slice(0, limit - count);
      count += part.length;
      last = part.at(-1);
      const isCertain = hasNext(reply) !== null;
      const next = isPaged && part.length > 0 && (hasNext(reply) ?? part.length >= perPage);
      // If the reply does not contain whether there are more rows, the next page shows it.
      const ends = count > limit || !next || (count === limit && isCertain);
      yield { rows, more: count > limit || (count === limit && isCertain && next) };
      if (ends) return;
    }
  }

  /** All rows of `pages` in one array. */
  async all<E extends AnyEndpoint, K extends keyof ReplyOf<E>>(
    endpoint: E,
    input: InputOf<E>,
    key: K,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<{ rows: RowOf<ReplyOf<E>[K]>[]; more: boolean }> {
    const all: RowOf<ReplyOf<E>[K]>[] = [];
    let hasMore = false;
    for await (const { rows, more } of this.pages(endpoint, input, key, limit)) {
      for (const row of rows) all.push(row);
      hasMore = more;
    }
    return { rows: all, more: hasMore };
  }

  #init(method: string, { body, upload, onSent, headers: more, isSlow }: CallInput, signal: AbortSignal | undefined) {
    const { token, userAgent, headers: always } = this.#options;
    const headers: Record<string, string> = { accept: "application/json", ...more };
    if (userAgent) headers["user-agent"] = userAgent;
    Object.assign(headers, always);
    if (token) headers.authorization = `Bearer ${token}`;
    const type = upload?.type ?? (body === undefined ? undefined : "application/json");
    if (type !== undefined) headers["content-type"] = type;
    if (upload && upload.size !== null) headers["content-length"] = String(upload.size);
    const content = upload ? counted(upload, onSent) : body === undefined ? undefined : JSON.stringify(body);
    return {
      method,
      headers,
      ...(content === undefined ? {} : { body: content }),
      ...(signal === undefined ? {} : { signal }),
      ...(isSlow ? { isSlow } : {}),
    };
  }

  /** Uploads a file in pieces, and continues after lost connections and where an earlier run has ended. */
  async upload(source: UploadSource, options: Pick<RawCall, "signal" | "onSent"> = {}): Promise<Upload> {
    const { PIECE_MAX, uploadInPieces } = await import("./uploads.ts");
    this.#pieces ??= { bytes: PIECE_MAX };
    const retry = (why: string, attempt: number) =>
      this.#wait(why, Math.min(backOff(attempt + 1, this.#options.random ?? Math.random), longestWait), options.signal);
    // Another way to send may collect the chunks.
    const reuses = this.#options.send === undefined;
    const wire = {
      call: ((...args) => this.call(...args)) as ApiClient["call"],
      retry,
      reuses,
      pieces: this.#pieces,
    };
    return uploadInPieces(wire, source, options);
  }

  async #bodyOf(endpoint: AnyEndpoint, body: unknown, options: Pick<RawCall, "signal" | "onSent">) {
    const { takes } = endpoint;
    if (body === undefined) return {};
    if (takes.kind === "stream") return { upload: { ...(body as UploadSource), type: takes.type } };
    if (takes.kind !== "multipart") return { body };
    const { formBody } = await import("./multipart.ts");
    // The server does not keep the files of a dry run, so they are not worth a session.
    const upload = this.#options.dryRun ? null : (source: UploadSource) => this.upload(source, options);
    return formBody(takes, body as Record<string, unknown>, upload);
  }

  async #wait(why: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.#options.onRetry?.(why, ms);
    await (this.#options.sleep ?? pause)(ms, signal);
  }
}

async function* counted(upload: UploadBody, onSent: OnSent = () => {}): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of upload.open()) {
    yield chunk;
    sent += chunk.length;
    onSent(sent, upload.size);
  }
}

async function bytesOf(reply: HttpReply): Promise<{ text: string; bytes: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  if (reply.body) for await (const chunk of reply.body) chunks.push(chunk);
  else chunks.push(Buffer.from(await reply.text()));
  const bytes = Buffer.concat(chunks);
  return { text: new TextDecoder().decode(bytes), bytes };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const backOff = (attempt: number, random: () => number): number => 250 * 2 ** (attempt - 1) * (0.5 + random());

const idOf = (row: unknown): unknown => (typeof row === "object" && row !== null && "id" in row ? row.id : undefined);

/**
 * Whether there is another page; null if the reply does not contain that: then a full page may be followed by
 * another.
 */
const hasNext = (reply: unknown): boolean | null => {
  const { meta } = reply as { meta?: { has_next_results?: boolean } };
  return meta === undefined ? null : meta.has_next_results === true;
};

function anySignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b);
}
