// The typed API client for browsers: it sends requests with fetch, as the user whose session the browser has.

import type { UploadSource } from "../api/bodies.ts";
import { CONSOLE_HEADER } from "../api/console.ts";
import { DRY_RUN, DRY_RUN_UNCHECKED } from "../api/dry-run.ts";
import type { AnyEndpoint, InputOf, ReplyOf } from "../api/endpoint.ts";
import { apiCallError, Unreachable } from "./errors.ts";
import { readEvents, type ServerEvent } from "./events.ts";
import { parseReply, pathOf, queryString } from "./requests.ts";

export interface BrowserClientOptions {
  /** The form token of the session, from the page. Read for each request, because it changes with the session. */
  readonly formToken: () => string;
  readonly fetch?: typeof fetch;
}

export interface BrowserCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** The server checks the request and replies as if it had carried it out. */
  readonly dryRun?: boolean;
  /** The browser sends the request even if the page is closed at once. */
  readonly keepalive?: boolean;
}

/** A file as a body, or as a part of one: its content, or the text of an upload session. Browsers send it themselves. */
export const sentFile = (content: Blob | string): UploadSource => content as unknown as UploadSource;

export interface BrowserReply<Value> {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly value: Value;
  /** What a dry run could not check. */
  readonly unchecked: string | null;
}

export class BrowserClient {
  readonly #formToken: () => string;
  readonly #fetch: typeof fetch;

  constructor({ formToken, fetch: send = (...args) => fetch(...args) }: BrowserClientOptions) {
    this.#formToken = formToken;
    this.#fetch = send;
  }

  /** Calls an endpoint. Throws `ApiCallError` for an error of the server, `Unreachable` without a reply. */
  async call<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: BrowserCall = {},
  ): Promise<ReplyOf<E>> {
    return (await this.callWhole(endpoint, input, options)).value;
  }

  /** Calls an endpoint; returns the reply with its status and headers. */
  async callWhole<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: BrowserCall = {},
  ): Promise<BrowserReply<ReplyOf<E>>> {
    const reply = await this.#send(endpoint, input, options);
    const text = await this.#read(reply);
    if (!reply.ok) throw apiCallError(reply.status, reply.headers, text, endpoint);
    const value = parseReply(reply.url, text) as ReplyOf<E>;
    return { status: reply.status, headers: reply.headers, value, unchecked: reply.headers.get(DRY_RUN_UNCHECKED) };
  }

  /** The reply as a file, for endpoints that return CSV, scripts, packages and the like. */
  async download<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: BrowserCall = {},
  ): Promise<{ readonly name: string; readonly content: Blob }> {
    const reply = await this.#send(endpoint, input, options);
    if (!reply.ok) throw apiCallError(reply.status, reply.headers, await this.#read(reply), endpoint);
    const name = /filename="?([^";]+)"?/.exec(reply.headers.get("content-disposition") ?? "")?.[1];
    return { name: name ?? "download", content: await reply.blob() };
  }

  /** The events of a stream. `EventSource` cannot send headers, so the stream is read here. */
  async *events<E extends AnyEndpoint>(
    endpoint: E,
    input: InputOf<E> = {},
    options: BrowserCall & { readonly lastEventId?: string } = {},
  ): AsyncGenerator<ServerEvent> {
    const { lastEventId, ...rest } = options;
    const headers: Record<string, string> = { accept: "text/event-stream, application/json", ...options.headers };
    if (lastEventId !== undefined) headers["Last-Event-ID"] = lastEventId;
    const reply = await this.#send(endpoint, input, { ...rest, headers });
    if (!reply.ok) throw apiCallError(reply.status, reply.headers, await this.#read(reply), endpoint);
    if (reply.body !== null) yield* readEvents(chunksOf(reply.body));
  }

  async #send(endpoint: AnyEndpoint, input: InputOf<AnyEndpoint>, options: BrowserCall): Promise<Response> {
    const { params = {}, query, body } = input as { params?: object; query?: object; body?: unknown };
    const path = pathOf(endpoint, params as Record<string, unknown>);
    const { content, type } = contentOf(endpoint, body);
    try {
      return await this.#fetch(`${path}${queryString(query as Record<string, unknown> | undefined)}`, {
        method: endpoint.method,
        headers: {
          accept: endpoint.produces === null ? "application/json" : `${endpoint.produces}, application/json`,
          [CONSOLE_HEADER]: this.#formToken(),
          ...(type === null ? {} : { "content-type": type }),
          ...(options.dryRun ? { [DRY_RUN]: "true" } : {}),
          ...options.headers,
        },
        credentials: "same-origin",
        redirect: "error",
        ...(options.keepalive ? { keepalive: true } : {}),
        ...(content === undefined ? {} : { body: content }),
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
    } catch (error) {
      options.signal?.throwIfAborted();
      throw new Unreachable(path, "the server does not respond", undefined, error);
    }
  }

  async #read(reply: Response): Promise<string> {
    try {
      return await reply.text();
    } catch (error) {
      throw new Unreachable(reply.url, "the connection broke while the reply arrived", undefined, error);
    }
  }
}

interface SentBody {
  readonly content: string | FormData | Blob | undefined;
  /** Null where the browser sets it. */
  readonly type: string | null;
}

/** JSON, or a form with files: `Blob` members of the body are sent as files. */
function contentOf(endpoint: AnyEndpoint, body: unknown): SentBody {
  // Servers refuse requests from pages that change something without this type, even if they have no body.
  if (body === undefined) return { content: undefined, type: endpoint.method === "GET" ? null : "application/json" };
  if (endpoint.takes?.kind === "stream") return { content: body as Blob, type: endpoint.takes.type };
  if (endpoint.takes?.kind === "raw") return { content: body as Blob, type: (body as Blob).type };
  const members = Object.entries(body as Record<string, unknown>);
  const { takes } = endpoint;
  // The text of an upload session stands for a file in forms only; lists that are empty are possible in JSON only.
  const hasFile = (files: object) =>
    members.some(([name, value]) => value instanceof Blob || (typeof value === "string" && name in files));
  if (takes?.kind !== "multipart" || (takes.isJsonToo && !hasFile(takes.files)))
    return { content: JSON.stringify(body), type: "application/json" };
  const form = new FormData();
  for (const [name, value] of members) {
    if (value === undefined || value === null) continue;
    for (const member of Array.isArray(value) ? value : [value])
      form.append(
        name,
        member instanceof Blob ? member : typeof member === "object" ? JSON.stringify(member) : String(member),
      );
  }
  return { content: form, type: null };
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
