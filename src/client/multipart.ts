// Writes multipart bodies (RFC 7578) from texts and files, without loading the files.
import { randomUUID } from "node:crypto";
import type { Multipart, UploadSource } from "../api/bodies.ts";
import { uploadText } from "../api/platform/upload-text.ts";
import type { Upload } from "../api/platform/uploads.ts";
import type { UploadBody } from "./transport.ts";

const encoder = new TextEncoder();
/** Larger files are uploaded in pieces: nginx accepts requests of up to 1 MiB unless it is configured otherwise. */
const MAX_WHOLE_BYTES = 768 * 1024;

/** The form, after its large files were uploaded in pieces; a request then only refers to them. */
export async function formBody(
  takes: Multipart,
  fields: Readonly<Record<string, unknown>>,
  upload: ((source: UploadSource) => Promise<Upload>) | null,
): Promise<{ readonly upload: UploadBody; readonly onSent?: undefined }> {
  const large = upload === null ? [] : Object.entries(fields).filter(([name, value]) => isLarge(takes, name, value));
  if (upload === null || large.length === 0) return { upload: multipartBody(takes, fields) };
  const texts: Record<string, string> = {};
  for (const [name, source] of large) texts[name] = uploadText((await upload(source as UploadSource)).id);
  // The progress is that of the files.
  return { upload: multipartBody(takes, { ...fields, ...texts }), onSent: undefined };
}

function isLarge({ files }: Multipart, field: string, value: unknown): boolean {
  const part = files[field];
  if (part === undefined || typeof value !== "object" || value === null) return false;
  const { size, canRepeat } = value as UploadSource;
  // What is too large is refused at once, when the server has received a little more than the limit.
  return canRepeat && size !== null && size > MAX_WHOLE_BYTES && size <= part.limit;
}

/**
 * Texts come first: a server that refuses one of them need not receive the files. A text in place of a file refers to
 * an upload.
 */
function multipartBody(takes: Multipart, fields: Readonly<Record<string, unknown>>): UploadBody {
  const boundary = `svc-${randomUUID()}`;
  const sentFields = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const isFile = ([name, value]: [string, unknown]) => name in takes.files && typeof value !== "string";
  const texts = sentFields
    .filter((field) => !isFile(field))
    .flatMap(([name, value]) =>
      valuesOf(value).map((element) => ({ head: head(boundary, name), text: `${fieldText(element)}\r\n` })),
    );
  const files = sentFields
    .filter(isFile)
    .flatMap(([name, value]) =>
      (valuesOf(value) as UploadSource[]).map((source) => ({ head: head(boundary, name, source), source })),
    );
  const end = encoder.encode(`--${boundary}--\r\n`);
  const textParts = texts.map(({ head: start, text }) => encoder.encode(start + text));
  const heads = files.map((file) => encoder.encode(file.head));
  const fixed = [...textParts, ...heads].reduce((sum, bytes) => sum + bytes.length, end.length + 2 * files.length);
  const sizes = files.map(({ source }) => source.size);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    size: sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + size!, fixed),
    canRepeat: files.every(({ source }) => source.canRepeat),
    async *open() {
      yield* textParts;
      for (const [at, { source }] of files.entries()) {
        yield heads[at]!;
        yield* source.open();
        yield encoder.encode("\r\n");
      }
      yield end;
    },
  };
}

const valuesOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const fieldText = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

function head(boundary: string, name: string, file?: UploadSource): string {
  const parameter = (text: string) =>
    text.replace(/["\r\n]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  const named = file === undefined ? "" : `; filename="${parameter(file.name)}"`;
  const type = file === undefined ? "" : `Content-Type: ${file.type ?? "application/octet-stream"}\r\n`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${parameter(name)}"${named}\r\n${type}\r\n`;
}
