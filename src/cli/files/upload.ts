// Files that commands send.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { UploadSource } from "../../api/bodies.ts";
import { failed } from "../errors.ts";
import type { Terminal } from "../output/terminal.ts";

const CHUNK = 256 * 1024;

/** The file at the path; `-` is stdin, whose name and size are not known. */
export async function uploadSource(io: Pick<Terminal, "inBytes">, path: string, flag: string): Promise<UploadSource> {
  if (path === "-") return { name: "", size: null, canRepeat: false, open: () => io.inBytes() };
  const info = await stat(path).catch((error: Error) => {
    throw failed(`${flag}: ${error.message}`);
  });
  if (!info.isFile()) throw failed(`${flag}: ${path} is not a file`);
  const { size } = info;
  return { name: basename(path), size, canRepeat: true, open: (start = 0) => exactly(path, start, size) };
}

/** A file that changes while it is sent must not be taken for a complete one. */
async function* exactly(path: string, start: number, size: number): AsyncGenerator<Uint8Array> {
  let read = start;
  for await (const chunk of createReadStream(path, { start, highWaterMark: CHUNK })) {
    read += (chunk as Buffer).length;
    if (read > size) break;
    yield chunk as Buffer;
  }
  if (read !== size) throw failed(`${path} changed while it was sent`);
}
