// Objects that are one large file: their value is its digest, and their name that of the file.
import { requireReadable, type Sources } from "./include.ts";
import { isUrl, readLargeFile } from "./large-files.ts";
import type { Value } from "./overlay.ts";

export async function largeFileValue(path: string, limit: number, otherwise: string, sources: Sources): Promise<Value> {
  if (!isUrl(path)) await requireReadable(path, sources);
  const file = await readLargeFile(path, limit);
  sources.uploads.set(file.sha256, file);
  return { name: file.name || otherwise, sha256: file.sha256 };
}
