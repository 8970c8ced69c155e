// Files that commands send.
import { constants, createReadStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { UploadSource } from "../../api/bodies.ts";
import { printable } from "../../text/printable.ts";
import { failed } from "../errors.ts";
import type { Terminal } from "../output/terminal.ts";
import { cannotRead } from "./file-errors.ts";

const CHUNK = 1024 * 1024;

/** The file at the path; `-` is stdin, whose name and size are not known. */
export async function uploadSource(io: Pick<Terminal, "inBytes">, path: string, flag: string): Promise<UploadSource> {
  if (path === "-") return { name: "", size: null, canRepeat: false, open: () => io.inBytes() };
  const unreadable = (error: unknown): never => {
    throw cannotRead(error, path, flag);
  };
  const info = await stat(path, { bigint: true }).catch(unreadable);
  if (!info.isFile()) throw failed(`${flag}: ${printable(path)} is not a file`);
  await access(path, constants.R_OK).catch(unreadable);
  const size = Number(info.size);
  return {
    name: basename(path),
    size,
    canRepeat: true,
    open: (start = 0) => exactly(path, start, size),
    version: {
      modifiedAt: new Date(Number(info.mtimeMs)).toISOString(),
      async requireSame() {
        const now = await stat(path, { bigint: true }).catch(unreadable);
        if (now.size !== info.size || now.mtimeNs !== info.mtimeNs || now.ino !== info.ino) throw changed(path);
      },
    },
  };
}

const changed = (path: string) => failed(`${path} changed while it was sent`);

/** A file that changes while it is sent must not be taken for a complete one. */
async function* exactly(path: string, start: number, size: number): AsyncGenerator<Uint8Array> {
  let read = start;
  for await (const chunk of createReadStream(path, { start, highWaterMark: CHUNK })) {
    read += (chunk as Buffer).length;
    if (read > size) break;
    yield chunk as Buffer;
  }
  if (read !== size) throw changed(path);
}
