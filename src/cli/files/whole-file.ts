// Downloads that leave a complete file or none.
import { open, rename, rm } from "node:fs/promises";
import type { Terminal } from "../output/terminal.ts";
import { cannotWrite } from "./file-errors.ts";

/** Writes to the file, or to stdout for `-`; returns the size. */
export async function saveBytes(
  io: Pick<Terminal, "outBytes">,
  path: string,
  body: AsyncIterable<Uint8Array>,
): Promise<number> {
  if (path !== "-") return toWholeFile(path, body);
  let size = 0;
  for await (const bytes of body) {
    await io.outBytes(bytes);
    size += bytes.length;
  }
  return size;
}

/** Writes to a temporary file and renames it at the end; returns the size. */
export async function toWholeFile(path: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = `${path}.part`;
  const file = await open(partial, "w", 0o600).catch((error: unknown) => {
    throw cannotWrite(error, path);
  });
  let size = 0;
  try {
    for await (const bytes of body) {
      await file.writeFile(bytes);
      size += bytes.length;
    }
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
  return size;
}
