// Writes multipart bodies (RFC 7578) from texts and files, without loading the files.
import { randomUUID } from "node:crypto";
import type { Multipart, UploadSource } from "../api/bodies.ts";
import type { Upload } from "./transport.ts";

const encoder = new TextEncoder();

/** Texts come first: a server that refuses one of them need not receive the files. */
export function multipartBody(takes: Multipart, fields: Readonly<Record<string, unknown>>): Upload {
  const boundary = `svc-${randomUUID()}`;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const texts = given
    .filter(([name]) => !(name in takes.files))
    .flatMap(([name, value]) =>
      listOf(value).map((one) => ({ head: head(boundary, name), text: `${textOf(one)}\r\n` })),
    );
  const files = given
    .filter(([name]) => name in takes.files)
    .flatMap(([name, value]) =>
      (listOf(value) as UploadSource[]).map((source) => ({ head: head(boundary, name, source), source })),
    );
  const end = encoder.encode(`--${boundary}--\r\n`);
  const known = texts.map(({ head: start, text }) => encoder.encode(start + text));
  const heads = files.map((file) => encoder.encode(file.head));
  const fixed = [...known, ...heads].reduce((sum, bytes) => sum + bytes.length, end.length + 2 * files.length);
  const sizes = files.map(({ source }) => source.size);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    size: sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + size!, fixed),
    canRepeat: files.every(({ source }) => source.canRepeat),
    async *open() {
      yield* known;
      for (const [at, { source }] of files.entries()) {
        yield heads[at]!;
        yield* source.open();
        yield encoder.encode("\r\n");
      }
      yield end;
    },
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const textOf = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

function head(boundary: string, name: string, file?: UploadSource): string {
  const quoted = (text: string) =>
    text.replace(/["\r\n]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  const named = file === undefined ? "" : `; filename="${quoted(file.name)}"`;
  const type = file === undefined ? "" : `Content-Type: ${file.type ?? "application/octet-stream"}\r\n`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${named}\r\n${type}\r\n`;
}
