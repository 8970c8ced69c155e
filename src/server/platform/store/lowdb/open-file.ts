import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

// Rows contain personal data and encrypted secrets: only the server's own user may read the files.
const FILE_MODE = 0o600;

/** The path is not a regular file but, for example, a symbolic link, which could lead outside the directory. */
class NotAFile extends Error {}

// Windows supports neither flag.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

export const isLink = (path: string): NotAFile =>
  new NotAFile(
    `${path} is a symbolic link, which the store does not open: replace it with the file itself, or use --data-dir with the directory that contains the file`,
  );

/** Opens a regular file. Symbolic links are not followed, and opening a pipe does not wait for its other end. */
export async function openFile(path: string, flags: number): Promise<FileHandle> {
  const handle = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, FILE_MODE).catch(
    (error: NodeJS.ErrnoException): never => {
      if (error.code === "ELOOP" || error.code === "EMLINK") throw isLink(path);
      if (error.code === "EISDIR" || error.code === "ENXIO") throw new NotAFile(`${path} is not a file`);
      throw error;
    },
  );
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new NotAFile(`${path} is not a file`);
}
