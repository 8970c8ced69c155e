// What endpoints take and give besides JSON: bodies of requests, and contents of replies.
import { z } from "zod";

/** How a body is encoded. The endpoint's `body` is the schema of what the handler gets. */
export type Takes =
  | { readonly kind: "json" }
  /** A form, or JSON. Form posts are accepted even from pages of other sites; each field once, as text. */
  | { readonly kind: "form" }
  | RawBody
  | StreamBody
  | Multipart;

/** Bytes. */
export interface RawBody {
  readonly kind: "raw";
  /** The media types that are accepted; any if the list is empty. */
  readonly types: readonly string[];
}

/** Bytes that the handler reads while they arrive, however many. */
export interface StreamBody {
  readonly kind: "stream";
  /** The only media type that is accepted. */
  readonly type: string;
}

/** Text fields, as the schema's other keys, and files. */
export interface Multipart {
  readonly kind: "multipart";
  readonly files: Readonly<Record<string, FilePart>>;
  /** Whether JSON is taken too, in which the files, all of them small ones, are base64. */
  readonly isJsonToo: boolean;
}

export interface FilePart {
  /** Maximum size in bytes. */
  readonly limit: number;
  readonly isRequired: boolean;
  /** Whether the file is stored while it arrives, or kept in memory. */
  readonly isStored: boolean;
}

/** A schema together with its encoding: what an endpoint's declaration contains as its body. */
export interface Body<B extends z.ZodType> {
  readonly schema: B;
  readonly takes: Takes;
  readonly limit: number;
}

export const MiB = 1024 * 1024;

export const form = <B extends z.ZodType>(schema: B, { limit }: { limit: number }): Body<B> => ({
  schema,
  takes: { kind: "form" },
  limit,
});

interface Bytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The media type without parameters, in lower case. Empty if none was sent. */
  readonly type: string;
}

const isBytes = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "bytes" in value && value.bytes instanceof Uint8Array;
const Bytes = z.custom<Bytes>(isBytes);

/** The bytes as they were sent. An empty body is accepted. */
export const raw = ({ limit, types = [] }: { limit: number; types?: readonly string[] }): Body<typeof Bytes> => ({
  schema: Bytes,
  takes: { kind: "raw", types },
  limit,
});

/** What a client sends as a file. */
export interface UploadSource {
  readonly name: string;
  /** Null if it is not known before the end, as for a pipe. */
  readonly size: number | null;
  readonly type?: string;
  /** Whether `open` can be called again, to repeat the request. */
  readonly canRepeat: boolean;
  /**
   * The bytes from this position on; default: all. Only a source that can repeat has other positions. With `reuses`, the
   * memory of a chunk may be used again when the fourth one after it is requested: new memory costs as much as sending.
   */
  open(start?: number, reuses?: boolean): AsyncIterable<Uint8Array>;
  /** The state of a file on disk. With it, the client computes the digest while it sends, instead of before. */
  readonly version?: FileVersion;
}

/** A file as it was when it was first seen. */
export interface FileVersion {
  /** ISO 8601, UTC, with milliseconds. */
  readonly modifiedAt: string;
  /** Throws if the file has changed meanwhile. */
  requireSame(): Promise<void>;
}

const NAME_MAX = 255;

/** The name of a file as it is kept: without folders, control characters and invisible ones, possibly empty. */
export const fileNameOf = (sent: string): string =>
  sent
    .replace(/^.*[/\\]/s, "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .slice(0, NAME_MAX);

/** Bytes that arrive while they are read. Fails if the sender is too slow, or the connection breaks. */
export interface Incoming {
  readonly bytes: AsyncIterable<Uint8Array>;
}

interface SentFile {
  /** The client's name for the file: without folders and control characters, possibly empty. */
  readonly name: string;
  readonly type: string;
}

/** A file in the server's storage. It is removed if the request fails, or later if no row refers to it. */
export interface StoredFile extends SentFile {
  /** The id of its row in `files`. */
  readonly id: number;
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** A file in memory. */
interface FileBytes extends SentFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** A part of a multipart body that is a file. */
interface FileField<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  readonly part: FilePart;
}

const binary = (limit: number) => ({
  type: "string",
  contentMediaType: "application/octet-stream",
  description: `a file of at most ${limit >= MiB ? `${limit / MiB} MiB` : `${limit} bytes`}`,
});
const isFile = (value: unknown): boolean => typeof value === "object" && value !== null && "name" in value;
// What clients give differs from what handlers get.
const stored = (limit: number) =>
  z.custom<StoredFile>(isFile).meta(binary(limit)) as unknown as z.ZodType<StoredFile, UploadSource>;
const inMemory = (limit: number) =>
  z.custom<FileBytes>(isFile).meta(binary(limit)) as unknown as z.ZodType<FileBytes, UploadSource>;

/** Bytes that the handler reads while they arrive. Other bodies are in memory when it is called. */
export const stream = ({ limit, type }: { limit: number; type: string }) => {
  const isIncoming = (value: unknown): boolean => typeof value === "object" && value !== null && "bytes" in value;
  const schema = z.custom<Incoming>(isIncoming) as unknown as z.ZodType<Incoming, UploadSource>;
  return { schema, takes: { kind: "stream", type }, limit } satisfies Body<typeof schema>;
};

/** A file that is stored while it arrives, whatever its size. */
export const file = ({ limit }: { limit: number }) => ({
  schema: stored(limit),
  part: { isRequired: true, limit, isStored: true },
});
export const optionalFile = ({ limit }: { limit: number }) => ({
  schema: stored(limit).optional(),
  part: { isRequired: false, limit, isStored: true },
});
/** A small file, which the handler gets as bytes. */
export const smallFile = ({ limit }: { limit: number }) => ({
  schema: inMemory(limit),
  part: { isRequired: true, limit, isStored: false },
});
export const optionalSmallFile = ({ limit }: { limit: number }) => ({
  schema: inMemory(limit).optional(),
  part: { isRequired: false, limit, isStored: false },
});

/** Maximum size of all text fields of a body together. */
export const FIELDS_LIMIT = MiB;

/**
 * A multipart form (RFC 7578). A field whose schema is a list may be repeated. Unknown parts are refused, and missing
 * files are a 400 that names them.
 */
export function multipart<F extends z.ZodRawShape, P extends Record<string, FileField>>(
  fields: F,
  files: P,
  { isJsonToo = false } = {},
) {
  const parts = Object.fromEntries(Object.entries(files).map(([name, { part }]) => [name, part]));
  const shape = Object.fromEntries(Object.entries(files).map(([name, { schema }]) => [name, schema]));
  const sizes = Object.values(parts).map(({ limit }) => limit);
  const schema = z.object(fields).extend(shape) as unknown as z.ZodObject<F & { [K in keyof P]: P[K]["schema"] }>;
  const takes: Multipart = { kind: "multipart", files: parts, isJsonToo };
  return { schema, takes, limit: sizes.reduce((sum, size) => sum + size, FIELDS_LIMIT) };
}

/** A whole text or whole bytes. */
export interface Content {
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Default: what the endpoint produces. */
  readonly type?: string;
  /** The name under which browsers and commands save it. */
  readonly name?: string;
}
export const Content = z.custom<Content>((value) => typeof value === "object" && value !== null && "content" in value);

/** Raw bytes of unknown size. `body` is cancelled if the client disconnects. */
export interface StreamedBody {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>> | Headers;
  readonly name?: string;
}
export const StreamedBody = z.custom<StreamedBody>(
  (value) => typeof value === "object" && value !== null && "body" in value && value.body instanceof ReadableStream,
);

/** First and last byte, both inclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A content of known size, of which clients may request a part. */
export interface Download {
  readonly size: number;
  /** Identifies the content (a quoted text). Needed to continue a download; default: made of `sha256`. */
  readonly etag?: string;
  /** The SHA-256 digest of the whole content in hex, if it is known. */
  readonly sha256?: string;
  readonly name?: string;
  /** Default: what the endpoint produces. */
  readonly type?: string;
  /** Not called if no byte is requested. May throw the error that is the reply. */
  open(range: Range): Promise<AsyncIterable<Uint8Array>>;
}
export const Download = z.custom<Download>(
  (value) =>
    typeof value === "object" && value !== null && "open" in value && "size" in value && typeof value.size === "number",
);
