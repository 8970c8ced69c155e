// Files that commands send.
import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { UploadSource } from "../../api/bodies.ts";
import { printable } from "../../text/printable.ts";
import { failed } from "../errors.ts";
import type { Terminal } from "../output/terminal.ts";
import { cannotRead } from "./file-errors.ts";

const CHUNK_BYTES = 1024 * 1024;
/** Chunks that are in memory at the same time if their memory is used again. */
const MAX_CHUNKS = 4;

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
    open: (start = 0, reuses = false) => exactly(path, start, size, reuses),
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
async function* exactly(path: string, start: number, size: number, reuses: boolean): AsyncGenerator<Uint8Array> {
  const memory: Buffer[] = [];
  const file = await open(path, "r");
  try {
    let at = start;
    for (let n = 0; at <= size; n++) {
      const reused = reuses ? memory[n % MAX_CHUNKS] : undefined;
      const buffer = reused ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
      if (reuses) memory[n % MAX_CHUNKS] = buffer;
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      if (at <= size) yield buffer.subarray(0, bytesRead);
    }
    if (at !== size) throw changed(path);
  } finally {
    await file.close();
  }
}
