// Replies that are not JSON: contents, streams, and downloads with ranges.
import { type Content, type Download, type Range, StreamedBody } from "../../../../api/bodies.ts";
import { type AnyEndpoint, isDownload } from "../../../../api/endpoint.ts";
import { sha256Field } from "../../../../text/digest-field.ts";
import { rangeNotSatisfiable } from "../errors.ts";
import { partOf } from "./byte-range.ts";
import type { Reply } from "./route.ts";
import { JsonStream, JsonWithBytes } from "./text-stream.ts";

interface RequestHead {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
}

/** The reply with the value that the handler has returned. `base` are headers that the reply's own may replace. */
export async function responseOf(
  endpoint: AnyEndpoint,
  value: unknown,
  reply: Reply,
  base: Readonly<Record<string, string>>,
  request: RequestHead,
): Promise<Response> {
  const whole = wholeReply(endpoint, value, reply, base);
  if (whole !== null) {
    const { status, headers, body } = whole;
    return new Response(request.method === "HEAD" ? null : joined(body), { status, headers });
  }
  const { status, headers: replyHeaders } = reply;
  const headers = new Headers({ ...base, ...replyHeaders });
  if (endpoint.produces === null) {
    headers.set("content-type", `${endpoint.mediaType}; charset=utf-8`);
    return new Response(request.method === "HEAD" ? null : (value as JsonStream).body, { status, headers });
  }
  headers.set("content-type", replyHeaders["content-type"] ?? endpoint.produces);
  if (isDownload(endpoint)) return download(value as Download, status, headers, request);
  return streamed(value as StreamedBody, status, headers);
}

/** A reply that is complete before it is sent. */
export interface WholeReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[] | null;
}

const joined = (body: WholeReply["body"]): string | Uint8Array<ArrayBuffer> | null =>
  typeof body === "string" || body === null || body instanceof Uint8Array ? body : Buffer.concat(body);

/** Null if the value is sent in parts. */
export function wholeReply(
  endpoint: AnyEndpoint,
  value: unknown,
  { status, headers: replyHeaders }: Reply,
  base: Readonly<Record<string, string>>,
): WholeReply | null {
  const headers = { ...base, ...replyHeaders };
  if (isEmpty(status)) return { status, headers, body: null };
  if (endpoint.produces === null) {
    if (value instanceof JsonStream) return null;
    headers["content-type"] = `${endpoint.mediaType}; charset=utf-8`;
    if (value instanceof JsonWithBytes) return { status, headers, body: value.parts };
    return { status, headers, body: compact(JSON.stringify(value)) };
  }
  if (isDownload(endpoint)) return null;
  headers["content-type"] = replyHeaders["content-type"] ?? endpoint.produces;
  if (isContent(value)) return content(value, status, headers);
  if (StreamedBody.safeParse(value).success) return null;
  // The query decides whether the reply is a file or its description.
  return content({ content: JSON.stringify(value), type: "application/json; charset=utf-8" }, status, headers);
}

/** Longer texts are passed on as bytes: Node would join a text with the headers, and copy it once more for that. */
const LONG_TEXT = 16 * 1024;

const compact = (text: string): string | Uint8Array<ArrayBuffer> =>
  text.length > LONG_TEXT ? Buffer.from(text) : text;

/** No content, or a redirect. */
const isEmpty = (status: number): boolean => status === 204 || status === 205 || (status >= 300 && status < 400);

const isContent = (value: unknown): value is Content =>
  typeof value === "object" && value !== null && "content" in value;

function content({ content: body, type, name }: Content, status: number, headers: Record<string, string>): WholeReply {
  if (type !== undefined) headers["content-type"] = type;
  if (name !== undefined) headers["content-disposition"] = attachment(name);
  headers["content-length"] = String(Buffer.byteLength(body));
  return { status, headers, body };
}

function streamed({ body, headers: bodyHeaders, name }: StreamedBody, status: number, headers: Headers): Response {
  if (name !== undefined) headers.set("content-disposition", attachment(name));
  for (const [key, value] of bodyHeaders instanceof Headers ? bodyHeaders.entries() : Object.entries(bodyHeaders)) {
    // Each cookie needs its own header.
    if (key.toLowerCase() === "set-cookie") headers.append(key, value);
    else headers.set(key, value);
  }
  return new Response(body, { status, headers });
}

/** RFC 9110, sections 8.8.3 and 14; RFC 9530 for the digest, which is that of the whole content. */
async function download(file: Download, status: number, headers: Headers, request: RequestHead): Promise<Response> {
  const { size, sha256, name, type } = file;
  const etag = file.etag ?? (sha256 === undefined ? null : `"${sha256}"`);
  headers.set("accept-ranges", "bytes");
  if (etag !== null) headers.set("etag", etag);
  const part = status === 200 ? partOf(request.headers, size, etag) : "whole";
  if (part === "none") throw rangeNotSatisfiable(size);
  if (type !== undefined) headers.set("content-type", type);
  if (name !== undefined) headers.set("content-disposition", attachment(name));
  if (sha256 !== undefined) headers.set("repr-digest", sha256Field(sha256));
  const range = part === "whole" ? { start: 0, end: size - 1 } : part;
  if (part !== "whole") headers.set("content-range", `bytes ${part.start}-${part.end}/${size}`);
  headers.set("content-length", String(range.end - range.start + 1));
  const sent = part === "whole" ? status : 206;
  const body = request.method === "HEAD" || size === 0 ? null : streamOf(await opened(file, range));
  return new Response(body, { status: sent, headers });
}

const opened = async (file: Download, range: Range): Promise<AsyncIterator<Uint8Array>> =>
  (await file.open(range))[Symbol.asyncIterator]();

/** An error aborts the connection: since Content-Length was sent, the client notices the missing part. */
function streamOf(source: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await source.return?.(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}

/** RFC 6266: a name that older clients can read, and the exact one if it differs. */
function attachment(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%/]/g, "_");
  const exact = encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"${plain === name ? "" : `; filename*=UTF-8''${exact}`}`;
}
