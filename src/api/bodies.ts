// What endpoints take and give besides JSON: bodies of requests, and contents of replies.
import { z } from "zod";

/** How a body is encoded. The endpoint's `body` is the schema of what the handler gets. */
export type Takes =
  | { readonly kind: "json" }
  /** Also JSON. Form posts are accepted even from pages of other sites; each field once, as text. */
  | { readonly kind: "form" }
  | RawBody;

/** Bytes. With a format, the handler gets the decoded value too: signatures cover the exact bytes. */
export interface RawBody {
  readonly kind: "raw";
  /** The media types that are accepted; any if the list is empty. */
  readonly types: readonly string[];
  readonly format: Format | null;
}

/** Formats for which the server has a decoder (`core/http/bodies/decoders.ts`). */
export type Format = "xml";

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

export interface Bytes {
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
  takes: { kind: "raw", types, format: null },
  limit,
});

/** The bytes as they were sent, with their decoded value, which the schema describes. */
export const decoded = <S extends z.ZodType>(
  format: Format,
  schema: S,
  { limit, types = [] }: { limit: number; types?: readonly string[] },
) => {
  const shape = z.object({ bytes: z.custom<Bytes["bytes"]>((value) => value instanceof Uint8Array), type: z.string() });
  const body = shape.extend({ value: schema });
  const takes: RawBody = { kind: "raw", types, format };
  return { schema: body, takes, limit } satisfies Body<typeof body>;
};

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
export interface Streamed {
  readonly body: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>> | Headers;
  readonly name?: string;
}
export const Streamed = z.custom<Streamed>(
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
