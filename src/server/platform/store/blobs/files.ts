import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, opendir, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Readable } from "node:stream";
import { BlobDiffers, type Blobs, BlobTooLarge, checkKey, NoSuchBlob } from "./blobs.ts";
import {
  codeOf,
  ensureFolder,
  FOLDER,
  isMissing,
  orNoSuchBlob,
  syncFolder,
  writeError,
  writeFrom,
} from "./file-steps.ts";
import { FreeSpace, type ReadDisk } from "./free-space.ts";
import { growingFiles } from "./growing-files.ts";

/**
 * Temporary files are outside of the key space but on the same file system, so that a rename moves them into place.
 */
const UNFINISHED = ".unfinished";

export function fileBlobs(folder: string, readDisk?: ReadDisk): Blobs {
  const space = new FreeSpace(folder, readDisk);
  const place = (key: string): string => {
    checkKey(key);
    return join(folder, ...key.split("/"));
  };

  return {
    place: folder,

    async put(key, content, { maxBytes, sha256 }) {
      const target = place(key);
      const temporary = join(folder, UNFINISHED, randomBytes(12).toString("hex"));
      try {
        await mkdir(dirname(temporary), FOLDER);
        const written = await writeWhole(temporary, space.guard(content), maxBytes);
        if (sha256 !== undefined && written.sha256 !== sha256) throw new BlobDiffers(key, sha256, written.sha256);
        await ensureFolder(folder, dirname(target));
        await rename(temporary, target);
        await syncFolder(dirname(target));
        return written;
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        throw writeError(error);
      }
    },

    async get(key, range) {
      const file = await orNoSuchBlob(key, () => open(place(key), "r"));
      try {
        // A directory can be opened like a file, so check the type.
        if (!(await file.stat()).isFile()) throw new NoSuchBlob(key);
      } catch (error) {
        await file.close();
        throw error;
      }
      const end = range?.end === undefined ? {} : { end: range.end };
      return file.createReadStream({ start: range?.start ?? 0, ...end, highWaterMark: 256 * 1024 }) as Readable;
    },

    localPath: place,

    checkRoom: (bytes) => space.check(bytes),

    growing: growingFiles(folder, place, space),

    async stat(key) {
      try {
        const info = await stat(place(key));
        return info.isFile() ? { size: info.size, modified: info.mtime } : null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async delete(key) {
      try {
        await unlink(place(key));
        await syncFolder(dirname(place(key)));
        return true;
      } catch (error) {
        if (isMissing(error) || codeOf(error) === "EISDIR" || codeOf(error) === "EPERM") return false;
        throw error;
      }
    },

    async *list(prefix = "") {
      for await (const key of keysIn(folder, "", prefix)) if (key.startsWith(prefix)) yield key;
    },

    async removeUnfinished(before) {
      let removed = 0;
      const names = await readdir(join(folder, UNFINISHED)).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      for (const name of names) {
        const path = join(folder, UNFINISHED, name);
        // An upload that ends meanwhile has moved its file.
        const info = await stat(path).catch(() => null);
        if (info === null || info.mtime >= before) continue;
        await rm(path, { force: true });
        removed++;
      }
      return removed;
    },

    // Created with the first blob: an unwritable directory is reported by the store, which shares it.
    async check() {},
    problem: () => null,
    async close() {},
  };
}

async function writeWhole(path: string, content: AsyncIterable<Uint8Array>, maxBytes: number) {
  const hash = createHash("sha256");
  const file = await open(path, "wx", 0o600);
  try {
    const size = await writeFrom(file, 0, content, (chunk, arrived) => {
      if (arrived > maxBytes) throw new BlobTooLarge(maxBytes);
      hash.update(chunk);
    });
    await file.sync();
    return { size, sha256: hash.digest("hex") };
  } finally {
    await file.close();
  }
}

/** Keys in code-point order: `a/b` sorts after `a-b` and before `a0`, so directories are sorted with their slash. */
async function* keysIn(folder: string, path: string, prefix: string): AsyncGenerator<string> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(join(folder, path.replaceAll("/", sep)))) {
      if (!entry.name.startsWith(".")) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  for (const name of names.sort()) {
    const key = path + name;
    if (!key.startsWith(prefix) && !prefix.startsWith(key)) continue;
    if (name.endsWith("/")) yield* keysIn(folder, key, prefix);
    else yield key;
  }
}
