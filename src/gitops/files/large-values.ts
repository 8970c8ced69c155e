// Objects that are one large file: their value is its digest, and their name that of the file.
import { FileNames } from "../export/names.ts";
import type { Sources } from "./include.ts";
import { readLargeFile } from "./large-files.ts";
import type { Value } from "./overlay.ts";

export async function largeFileValue(path: string, limit: number, otherwise: string, sources: Sources): Promise<Value> {
  const file = await readLargeFile(path, limit);
  sources.uploads.set(file.sha256, file);
  return { name: file.name || otherwise, sha256: file.sha256 };
}

/** The name that an exported file has: that of the object, if a file can have it. */
export const safeName = (name: string, extension: string): string => {
  const isPossible = /^[\p{L}\p{N}_][\p{L}\p{N} ._+()-]*$/u.test(name) && name.toLowerCase().endsWith(extension);
  return isPossible ? name : `${new FileNames().of(name)}${extension}`;
};
