// Downloads that leave a complete file or none.
import { open, rename, rm } from "node:fs/promises";

/** Writes to a temporary file and renames it at the end; returns the size. */
export async function toWholeFile(path: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = `${path}.part`;
  const file = await open(partial, "w", 0o600);
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
