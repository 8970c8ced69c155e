// Reads files that other files name: only regular files below the folders of the configuration, up to a limit.
import { constants } from "node:fs";
import { access, lstat, open, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";

/** Why a file cannot be read, as the end of a sentence that begins with its name. */
export class FileProblem extends Error {}

/**
 * The folders in which files may be that other files name, with symbolic links resolved: the current folder, and for each
 * main file the repository that contains it. Without a repository it is the folder of the file, or the one above `teams`.
 */
export async function rootsOf(main: readonly string[], directory: string): Promise<readonly string[]> {
  // The folder in which the file is named, and not one to which a link in the repository leads.
  const folders = await Promise.all(main.map(async (path) => resolved(await rootOf(dirname(path)))));
  return [...new Set([await resolved(directory), ...folders])];
}

const resolved = (path: string): Promise<string> => realpath(path).catch(() => path);

async function rootOf(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) return at;
    if (dirname(at) === at) return basename(folder) === "teams" ? dirname(folder) : folder;
  }
}

export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const isBelow = (path: string, root: string): boolean => {
  const short = relative(root, path);
  return short !== ".." && !short.startsWith(`..${sep}`) && !isAbsolute(short);
};

/**
 * Throws `FileProblem` if the file, or what a link leads to, is outside of these folders, belongs to the repository's
 * own data (with the credentials of its remotes), or is a hidden file such as `.env`.
 */
export async function requireInside(path: string, roots: readonly string[]): Promise<void> {
  const real = await realpath(path).catch(() => null);
  // What does not exist is reported when it is read.
  if (real === null) return;
  requireOrdinary(path, "is");
  requireOrdinary(real, real === path ? "is" : "leads to what is");
  if (roots.some((root) => isBelow(real, root))) return;
  const isItself = !roots.some((root) => isBelow(path, root));
  throw new FileProblem(
    `${isItself ? "is" : `leads to ${real}, which is`} outside of ${roots.join(" and ")}: ` +
      "copy it into the repository, or run the command in a folder that contains both",
  );
}

function requireOrdinary(path: string, verb: string): void {
  if (path.toLowerCase().split(/[/\\]/).includes(".git"))
    throw new FileProblem(`${verb} in .git: what git stores there may contain credentials, and is no configuration`);
  if (isHidden(basename(path)))
    throw new FileProblem(`${verb} a hidden file, which may contain secrets: give it a name without a dot in front`);
}

/** Mounted volumes have names with two dots. */
const isHidden = (name: string): boolean => /^\.[^.]/.test(name);

/** Throws `FileProblem` if a main file is a link that leads out of these folders: who named it cannot see that. */
export async function requireOwn(path: string, roots: readonly string[]): Promise<void> {
  const real = await realpath(path).catch(() => null);
  if (real === null || real === path || !(await isLinked(path, roots))) return;
  requireOrdinary(real, "leads to what is");
  // Pipes of the shell are links too (/dev/fd/63).
  if (roots.some((root) => isBelow(real, root)) || !(await stat(path)).isFile()) return;
  throw new FileProblem(`is a link to ${real}, outside of ${roots.join(" and ")}: name that file itself`);
}

/** Whether a link is a part of the path below these folders. */
export async function isLinked(path: string, roots: readonly string[]): Promise<boolean> {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    const info = await lstat(at).catch(() => null);
    if (info?.isSymbolicLink()) return true;
    if (roots.includes(await resolved(at))) return false;
  }
  return false;
}

const special: readonly (readonly [number, string])[] = [
  [constants.S_IFIFO, "a named pipe"],
  [constants.S_IFSOCK, "a socket"],
  [constants.S_IFCHR, "a device"],
  [constants.S_IFBLK, "a device"],
];

/** Throws `FileProblem` for what is not a regular file: it might have no end, or block. Returns its size in bytes. */
export async function requireRegular(path: string): Promise<number> {
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new FileProblem("does not exist") : error;
  });
  if (info.isFile()) return info.size;
  if (info.isDirectory()) throw Object.assign(new Error("is a directory"), { code: "EISDIR" });
  const kind = special.find(([type]) => (info.mode & constants.S_IFMT) === type)?.[1] ?? "special";
  throw new FileProblem(`is not a regular file but ${kind}`);
}

const CHUNK_BYTES = 64 * 1024;

/** The content, or null if it is longer than the limit: no more than that is read, whatever the file reports. */
export async function readUpTo(path: string, limit: number): Promise<Buffer | null> {
  const file = await open(path);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
      if (bytesRead === 0) return Buffer.concat(chunks);
      size += bytesRead;
      if (size > limit) return null;
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
