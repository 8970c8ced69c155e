// Blobs that grow while their content arrives, in files.
import { link, open, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { BlobTooLarge, type GrowingBlobs } from "./blobs.ts";
import { codeOf, ensureFolder, isMissing, orNoSuchBlob, syncFolder, writeError, writeFrom } from "./file-steps.ts";
import type { FreeSpace } from "./free-space.ts";

/** File systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

export const growingFiles = (folder: string, place: (key: string) => string, space: FreeSpace): GrowingBlobs => ({
  async append(key, start, content, { maxBytes, hash }) {
    const path = place(key);
    try {
      if (start === 0) await ensureFolder(folder, dirname(path));
      // Never one that exists: nobody else may write to the file.
      const file = await orNoSuchBlob(key, () => open(path, start === 0 ? "wx" : "r+", 0o600));
      try {
        if (start === 0) await syncFolder(dirname(path));
        return await writeFrom(file, start, space.guard(content), (chunk, arrived) => {
          if (arrived > maxBytes) throw new BlobTooLarge(maxBytes);
          hash?.update(chunk);
        });
      } finally {
        await file.close();
      }
    } catch (error) {
      throw writeError(error);
    }
  },

  async sync(key) {
    const file = await orNoSuchBlob(key, () => open(place(key), "r+"));
    try {
      await file.datasync();
    } catch (error) {
      throw writeError(error);
    } finally {
      await file.close();
    }
  },

  async keepAs(key, target, size) {
    const path = place(target);
    const info = await orNoSuchBlob(key, () => stat(place(key)));
    if (info.size !== size) return false;
    let isLinked = false;
    try {
      await ensureFolder(folder, dirname(path));
      await link(place(key), path);
      isLinked = true;
      await syncFolder(dirname(path));
      return true;
    } catch (error) {
      // Only the name that was made here: another one may be somebody else's.
      if (isLinked) await unlink(path).catch(() => {});
      else if (NO_LINKS.has(codeOf(error)) || isMissing(error)) return false;
      throw writeError(error);
    }
  },
});
