// Reads the body of a request in the encoding that its endpoint takes.

import type { Incoming, Multipart, RawBody, StreamBody } from "../../../../../api/bodies.ts";
import { type AnyEndpoint, JSON_TYPE, SCIM } from "../../../../../api/endpoint.ts";
import { isDigestOf } from "../../../../../pki/http-signature.ts";
import { bytesOfBase64 } from "../../../../../text/base64.ts";
import { isRecord } from "../../../../../text/record.ts";
import { badRequest, partTooLarge, tooLarge, unsupportedMediaType } from "../../errors.ts";
import { type Admission, type BodySource, formFields, parseJson, readBytes } from "../body.ts";
import type { CheckTexts } from "../route.ts";
import type { SentBody } from "./multipart.ts";
import { type FilePlace, readMultipart } from "./multipart.ts";
import { paced, upTo } from "./paced.ts";

/** The body before validation; undefined if none was sent. */
export async function readBody(
  sent: SentBody,
  endpoint: AnyEndpoint,
  from: BodySource,
  files: FilePlace,
  checkTexts: CheckTexts,
  admission?: Admission,
): Promise<unknown> {
  const { headers } = sent;
  const { takes, bodyLimit: limit } = endpoint;
  const type = mediaType(headers.get("content-type"));
  if (!endpoint.hasBody && type !== JSON_TYPE) return undefined;
  const bytes = async () => {
    // Whatever room there is: the sender must not try again.
    if (Number(headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
    return digested(headers, await readBytes(sent.body, headers.get("content-encoding"), limit, from, admission));
  };
  const decode = <T>(work: () => T): T => (admission ? admission.measure(work) : work());
  const json = async () => {
    checkJsonSender(type, headers);
    const content = await bytes();
    return decode(() => jsonOf(endpoint, content));
  };
  switch (takes.kind) {
    case "raw": {
      checkSender(endpoint, takes, type, headers);
      const content = await bytes();
      return { bytes: content, type };
    }
    case "stream":
      return streamed(sent, takes, type, limit);
    case "multipart":
      if (takes.isJsonToo && type === JSON_TYPE) return filesOfJson(takes, await json());
      return readMultipart(sent, endpoint, takes, from, files, checkTexts);
    case "form":
      if (type === "application/x-www-form-urlencoded") {
        const content = await bytes();
        return decode(() => Object.fromEntries(formFields(content)));
      }
      return json();
    case "json":
      return json();
  }
}

type Headers = SentBody["headers"];

const mediaType = (header: string | null): string => header?.split(";")[0]?.trim().toLowerCase() ?? "";

const isFromPage = (headers: Headers): boolean => headers.has("origin") || headers.has("referer");

/** A browser page of another site can post forms and text, but not JSON. */
function checkJsonSender(type: string, headers: Headers): void {
  if (isFromPage(headers) && type !== JSON_TYPE && type !== SCIM)
    throw unsupportedMediaType("Content-Type must be application/json");
}

/** What a user sends would be stored and sent to hosts. Agents report what they find, and cannot correct it. */
const jsonOf = ({ access }: AnyEndpoint, bytes: Buffer): unknown =>
  bytes.length === 0 ? undefined : parseJson(bytes, access === "none" ? "replaced" : "refused");

/** Returns the bytes. Throws if the header has another digest of them (RFC 9530). */
function digested(headers: Headers, bytes: Buffer): Buffer {
  const digest = headers.get("content-digest");
  if (digest !== null && !headers.has("content-encoding") && isDigestOf(digest, bytes) === false)
    throw badRequest("Content-Digest is not that of the body");
  return bytes;
}

/** Files in JSON are base64, and have no names. */
function filesOfJson({ files }: Multipart, body: unknown): unknown {
  if (!isRecord(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const part = Object.hasOwn(files, name) ? files[name] : undefined;
      if (part === undefined) return [name, value];
      if (part.isStored) throw badRequest(`${name} has to be sent in a form (multipart/form-data)`, name);
      const bytes = typeof value === "string" ? bytesOfBase64(value) : null;
      if (bytes === null) throw badRequest(`${name} has to be base64`, name);
      if (bytes.byteLength > part.limit) throw partTooLarge(name, part.limit);
      return [name, { name: "", type: "application/octet-stream", bytes }];
    }),
  );
}

function streamed({ headers, body }: SentBody, takes: StreamBody, type: string, limit: number): Incoming {
  if (type !== takes.type) throw unsupportedMediaType(`Content-Type must be ${takes.type}`);
  if ((headers.get("content-encoding") ?? "identity") !== "identity")
    throw unsupportedMediaType("the body cannot have a Content-Encoding");
  return { bytes: upTo(paced(body ?? nothing()), limit, () => tooLarge(limit)) };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** What pages of other sites can send without asking the server first. */
const ANY_PAGE = ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"];

function checkSender({ access }: AnyEndpoint, { types }: RawBody, type: string, headers: Headers): void {
  if (types.length > 0 && !types.includes(type))
    throw unsupportedMediaType(`Content-Type must be ${types.join(" or ")}`);
  if (access === "none" && isFromPage(headers) && ANY_PAGE.includes(type))
    throw unsupportedMediaType(`pages cannot send bodies of the type ${JSON.stringify(type)}`);
}

/** `readBody` for bytes or JSON that have been received already. */
export function receivedBody(endpoint: AnyEndpoint, headers: Headers, bytes: Buffer): unknown {
  const { takes } = endpoint;
  const type = mediaType(headers.get("content-type"));
  if (takes.kind === "json") {
    checkJsonSender(type, headers);
    return jsonOf(endpoint, digested(headers, bytes));
  }
  if (takes.kind !== "raw") throw new Error(`${endpoint.path} does not take bytes`);
  checkSender(endpoint, takes, type, headers);
  return { bytes: digested(headers, bytes), type };
}
