// Objects that are one large file: their value is its digest, and their name that of the file.
import type { Sources } from "./include.ts";
import { readLargeFile } from "./large-files.ts";
import type { Value } from "./overlay.ts";

export async function largeFileValue(path: string, limit: number, otherwise: string, sources: Sources): Promise<Value> {
  const file = await readLargeFile(path, limit);
  sources.uploads.set(file.sha256, file);
  return { name: file.name || otherwise, sha256: file.sha256 };
}
