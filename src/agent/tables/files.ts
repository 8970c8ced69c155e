// Files that a query names: with `=`, and with LIKE, where `%` stands for one name, and `%%` for everything below.
import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { visitRegular } from "../reading/regular-file.ts";
import { within } from "../reading/time-limit.ts";
import { mapFew } from "./read.ts";
import { ALL, bigint, type Constraint, integer, type Table, type TableContext, type TableRow, text } from "./table.ts";

const MAX_FILES = 100_000;
const DEEPEST = 32;
/** Larger files are not hashed, which is osquery's limit too. */
const HASHED_BYTES = 50 * 1024 * 1024;

const LIST_MS = 10_000;
const HASH_MS = 30_000;
const STAT_MS = 2_000;

async function entries(folder: string): Promise<Dirent[]> {
  const dirents: Dirent[] = [];
  const list = async () => {
    for await (const entry of await opendir(folder, { bufferSize: 512 })) if (dirents.push(entry) >= MAX_FILES) return;
  };
  await within(LIST_MS, folder, list()).catch(() => {});
  return dirents;
}

const statsOf = (path: string) => within(STAT_MS, path, lstat(path)).catch(() => null);

/** One part of a path: `%` any text, `_` any character, `*` as in shells. */
const matcher = (part: string) =>
  new RegExp(
    `^${part
      .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
      .replace(/[%*]+/g, ".*")
      .replaceAll("_", ".")}$`,
    "i",
  );

async function below(folder: string, files: string[], depth = 0): Promise<void> {
  for (const entry of await entries(folder)) {
    if (files.length >= MAX_FILES) return;
    const path = join(folder, entry.name);
    files.push(path);
    if (entry.isDirectory() && depth < DEEPEST) await below(path, files, depth + 1);
  }
}

/** The paths that a pattern stands for. */
async function expand(pattern: string): Promise<string[]> {
  const [root = "", ...parts] = pattern.split(/[/\\]/).filter((part, i) => i === 0 || part !== "");
  let paths = [root === "" ? "/" : root];
  for (const [i, part] of parts.entries()) {
    if (part === "%%" && i === parts.length - 1) {
      const files: string[] = [];
      for (const path of paths) await below(path, files);
      return files;
    }
    if (!/[%*]/.test(part)) {
      paths = paths.map((path) => join(path, part));
      continue;
    }
    const isMatch = matcher(part);
    const next = await mapFew(paths, async (path) =>
      (await entries(path)).flatMap(({ name }) => (isMatch.test(name) ? [join(path, name)] : [])),
    );
    paths = next.flat().slice(0, MAX_FILES);
  }
  return paths;
}

interface NamedFile {
  readonly path: string;
  readonly directory: string;
}

const pathsOf = async ({ value, isLike }: Constraint) => (isLike ? expand(value) : [value]);

/** Found by the query's paths and directories. A directory is given back as the query writes it. */
async function namedFiles({ path = [], directory = [] }: TableContext["constraints"]): Promise<NamedFile[]> {
  const byPath = (await mapFew(path, pathsOf))
    .flat()
    .map((filePath) => ({ path: filePath, directory: dirname(filePath) }));
  const folders = (await mapFew(directory, pathsOf)).flat();
  const inFolders = await mapFew(folders, async (folder) =>
    (await entries(folder)).map(({ name }) => ({ path: join(folder, name), directory: folder })),
  );
  return [...new Map([...byPath, ...inFolders.flat()].map((place) => [place.path, place])).values()].slice(
    0,
    MAX_FILES,
  );
}

const KINDS = {
  regular: "isFile",
  directory: "isDirectory",
  link: "isSymbolicLink",
  character: "isCharacterDevice",
  block: "isBlockDevice",
  socket: "isSocket",
  fifo: "isFIFO",
} as const;

async function fileRow({ path, directory }: NamedFile): Promise<TableRow | null> {
  const stats = await statsOf(path);
  if (stats === null) return null;
  const type = Object.entries(KINDS).find(([, is]) => stats[is]())?.[0] ?? "unknown";
  return {
    path,
    directory,
    filename: basename(path),
    inode: stats.ino,
    uid: stats.uid,
    gid: stats.gid,
    mode: (stats.mode & 0o7777).toString(8).padStart(4, "0"),
    device: stats.rdev,
    size: stats.size,
    block_size: stats.blksize,
    atime: Math.floor(stats.atimeMs / 1000),
    mtime: Math.floor(stats.mtimeMs / 1000),
    ctime: Math.floor(stats.ctimeMs / 1000),
    btime: Math.floor(stats.birthtimeMs / 1000),
    hard_links: stats.nlink,
    symlink: type === "link" ? 1 : 0,
    type,
    symlink_target_path: "",
  };
}

async function hashRow({ path, directory }: NamedFile): Promise<TableRow | null> {
  const hashes = ["md5", "sha1", "sha256"].map((name) => createHash(name));
  try {
    const options = { maxBytes: HASHED_BYTES, followsLinks: false };
    const read = visitRegular(path, options, (part) => {
      for (const hash of hashes) hash.update(part);
    });
    await within(HASH_MS, path, read);
  } catch {
    return null;
  }
  const [md5, sha1, sha256] = hashes.map((hash) => hash.digest("hex"));
  return { path, directory, md5, sha1, sha256 };
}

const rowsOf =
  (row: (file: NamedFile) => Promise<TableRow | null>): Table["rows"] =>
  async ({ constraints }) =>
    (await mapFew(await namedFiles(constraints), row)).filter((row) => row !== null);

export const fileTables: readonly Table[] = [
  {
    name: "file",
    platforms: ALL,
    findsBy: ["path", "directory"],
    columns: {
      ...text("path directory filename"),
      ...bigint("inode uid gid"),
      ...text("mode"),
      ...bigint("device size"),
      ...integer("block_size"),
      ...bigint("atime mtime ctime btime"),
      ...integer("hard_links symlink"),
      ...text(
        "type symlink_target_path attributes volume_serial file_id file_version product_version original_filename",
      ),
      ...text("bsd_flags shortcut_target_path shortcut_target_type shortcut_target_location shortcut_start_in"),
      ...text("shortcut_run shortcut_comment"),
    },
    rows: rowsOf(fileRow),
  },
  {
    name: "hash",
    platforms: ALL,
    findsBy: ["path", "directory"],
    columns: text("path directory md5 sha1 sha256"),
    rows: rowsOf(hashRow),
  },
];
