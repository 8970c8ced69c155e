// A download that comes whole or not at all.
import { open, rename, rm } from "node:fs/promises";

/** Writes beside the file and puts it in its place at the end; gives its size. */
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
