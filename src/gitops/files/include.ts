// Files that are included from others: `path` (one file) and `paths` (a glob), relative to the file that names them.
import { type PathLike, type Stats, stat } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import type { z } from "zod";
import type { Environment } from "../environment/variables.ts";
import { exists, FileProblem, isLinked, readUpTo, requireInside, requireOwn, requireRegular } from "./disk.ts";
import type { LargeFile } from "./large-files.ts";
import { isPackFile, readPack } from "./osquery-pack.ts";
import type { Place, Problems } from "./problems.ts";
import { type Entry, type Mapping, parseTree, type Tree } from "./tree.ts";

/** Configuration files are written by people: a larger file is a mistake. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Bytes of all files of a run that are kept in memory. */
const TOTAL_MAX = 256 * 1024 * 1024;
const MATCHES_MAX = 20_000;
const YAML = [".yml", ".yaml"];
const isPattern = (text: string): boolean => /[*?[{]/.test(text);

export interface Sources {
  readonly environment: Environment;
  readonly problems: Problems;
  /** File names are shown relative to this folder. */
  readonly directory: string;
  /** The files that the user has named. They may be anywhere, and pipes. */
  readonly main: ReadonlySet<string>;
  /** The folders in which all other files have to be. */
  readonly roots: readonly string[];
  /** The content of `-`; null if standard input is not read. */
  readonly stdin: string | null;
  /** Parsed files: several files may include the same one. */
  readonly trees: Map<string, Tree | null>;
  readonly globs: Map<string, readonly string[]>;
  /** Texts that were read to find out their format, until they are read again. */
  readonly texts: Map<string, string>;
  /** How much was read. */
  readonly read: { bytes: number };
  /** Contents of the files that hosts get, by their SHA-256 digests in hex. */
  readonly contents: Map<string, Buffer>;
  /** Large files, by their SHA-256 digests in hex. */
  readonly uploads: Map<string, LargeFile>;
  /** Values of the custom variables that these files name, by their names without the prefix. */
  readonly variables: Map<string, string>;
}

export const newSources = (
  options: Pick<Sources, "environment" | "directory" | "problems"> & Partial<Pick<Sources, "main" | "roots" | "stdin">>,
): Sources => ({
  main: new Set(),
  roots: [options.directory],
  stdin: null,
  ...options,
  trees: new Map(),
  globs: new Map(),
  texts: new Map(),
  read: { bytes: 0 },
  contents: new Map(),
  uploads: new Map(),
  variables: new Map(),
});

/** The file's name as the user gave it or would give it. */
export const shownAs = (path: string, { directory }: Sources): string => {
  const short = relative(directory, path);
  if (short === "") return ".";
  return short.startsWith("..") || isAbsolute(short) ? path : short;
};

/** The text of a file; null, with a problem at the place that names the file, if it cannot be read. */
export async function readSource(path: string, named: Place, sources: Sources): Promise<string | null> {
  if (sources.stdin !== null && path === join(sources.directory, "-")) return sources.stdin;
  const before = sources.texts.get(path);
  if (before !== undefined) {
    sources.texts.delete(path);
    return before;
  }
  const bytes = await readBytes(path, named, sources);
  if (bytes === null) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    sources.problems.error(named, `${shownAs(path, sources)} is not UTF-8 text`);
    return null;
  }
}

/** The bytes of a file; null, with a problem at the place that names the file, if it cannot be read. */
export async function readBytes(path: string, named: Place, sources: Sources): Promise<Buffer | null> {
  try {
    await requireReadable(path, sources);
    if (await isLinked(path, sources.roots)) sources.problems.doNotQuote(shownAs(path, sources));
    const bytes = await readUpTo(path, MAX_BYTES);
    sources.read.bytes += bytes?.length ?? 0;
    if (sources.read.bytes > TOTAL_MAX) throw new FileProblem("is one file too many: together they exceed 256 MiB");
    if (bytes) return bytes;
    sources.problems.error(named, `${shownAs(path, sources)} is larger than 8 MiB`);
  } catch (error) {
    sources.problems.error(named, `${shownAs(path, sources)} ${reasonOf(error as Error, path, sources)}`);
  }
  return null;
}

/** Throws if a file that another file names is outside of the configuration, or not a regular file. */
export async function requireReadable(path: string, { main, roots }: Sources): Promise<void> {
  if (main.has(path)) return requireOwn(path, roots);
  await requireInside(path, roots);
  await requireRegular(path);
}

function reasonOf(error: NodeJS.ErrnoException, path: string, sources: Sources): string {
  if (error instanceof FileProblem) return error.message;
  if (error.code === "ENOENT") return "does not exist";
  return error.code === "EISDIR"
    ? `is a directory: give the files in it, such as ${join(shownAs(path, sources), "*.yml")}`
    : `cannot be read (${error.code})`;
}

export async function readTree(path: string, named: Place, sources: Sources): Promise<Tree | null> {
  const before = sources.trees.get(path);
  if (before !== undefined) return before;
  const text = await readSource(path, named, sources);
  // A problem was reported at the place that names the file.
  if (text === null) return null;
  const tree = parseTree(text, shownAs(path, sources), sources);
  sources.trees.set(path, tree);
  return tree;
}

/**
 * An inline section, or the file that its `path` includes in place of the whole section. Also returns the file that
 * paths within it are relative to.
 */
export async function section(
  entry: Entry,
  file: string,
  sources: Sources,
): Promise<{ tree: Tree | null; file: string } | null> {
  const { value } = entry;
  const path = value.kind === "map" ? value.entries.get("path") : undefined;
  if (!path) return { tree: value, file };
  const { problems } = sources;
  for (const [key, { key: at }] of (value as Mapping).entries)
    if (key !== "path")
      problems.error(at, `${key} cannot be used together with path, which replaces the whole section`);
  const target = textAt(path, problems, "path");
  if (target === null) return null;
  const from = resolve(dirname(file), target);
  if (![...YAML, ".json"].includes(extname(from).toLowerCase())) {
    problems.error(path.value.at, `${target}: unsupported extension, it must be ${YAML.join(" or ")}`);
    return null;
  }
  const tree = await readTree(from, path.value.at, sources);
  if (tree?.kind === "map" && tree.entries.has("path")) {
    problems.error(tree.entries.get("path")!.key, "nested paths: an included file cannot include another by path");
    return null;
  }
  return { tree, file: from };
}

function textAt({ value }: Entry, problems: Problems, key: string): string | null {
  if (value.kind === "leaf" && typeof value.value === "string" && value.value.trim() !== "") return value.value;
  problems.error(value.at, `${key} must be the name of a file`);
  return null;
}

/** An item of a list and the file that contains it. */
export interface Item {
  readonly tree: Tree;
  readonly file: string;
  /** Index in the list, if several items come from one entry. */
  readonly index?: number;
  /** The list that it is in, if its kind has several. */
  readonly called?: string;
  /** The schema of the list, if it is another than that of the kind. */
  readonly schema?: z.ZodType;
  /** Another object that comes with the item: the label of a pack. */
  readonly label?: Tree;
  /** For an item that is a file, or names files: its name and digests, and what its list adds. */
  readonly fileFields?: { readonly name: string; readonly sha256: string };
}

/** The items of a list, with the place of its key and the list's dotted name. */
export interface ItemList {
  readonly items: readonly Item[];
  readonly key: Place;
  readonly called: string;
}

/** The items of a list of labels, policies or queries: inline ones and those of the files in `path` and `paths`. */
export async function listItems(
  list: Tree,
  file: string,
  what: string,
  sources: Sources,
  hasPacks = false,
): Promise<Item[]> {
  const { problems } = sources;
  if (list.kind === "leaf" && list.value === null) return [];
  if (list.kind !== "list") {
    problems.error(list.at, `${what} must be a list`);
    return [];
  }
  const items: Item[] = [];
  for (const tree of list.items) {
    const included = tree.kind === "map" ? await filesOf(tree, file, sources, hasPacks) : null;
    if (included === null) items.push({ tree, file });
    else
      for (const { path, named } of included)
        items.push(
          ...(await (isPackFile(path) ? packItems(path, named, sources) : itemsOf(path, named, what, sources))),
        );
  }
  return items;
}

async function packItems(path: string, named: Place, sources: Sources): Promise<Item[]> {
  const text = await readSource(path, named, sources);
  const pack = text === null ? null : readPack(text, shownAs(path, sources), packNameOf(path), sources);
  const label = pack?.label ?? undefined;
  return (pack?.queries ?? []).map((tree, i) => ({ tree, file: path, ...(i === 0 && label ? { label } : {}) }));
}

export const packNameOf = (path: string): string => basename(path, extname(path));

async function itemsOf(path: string, named: Place, what: string, sources: Sources): Promise<Item[]> {
  const tree = await readTree(path, named, sources);
  if (tree === null) return [];
  if (tree.kind !== "list") {
    sources.problems.error(tree.at, `a file of ${what} must be a list`);
    return [];
  }
  for (const item of tree.items)
    for (const key of ["path", "paths"])
      if (item.kind === "map" && item.entries.has(key))
        sources.problems.error(
          item.entries.get(key)!.key,
          "nested paths: an included file cannot include another by path",
        );
  return tree.items.map((item) => ({ tree: item, file: path }));
}

/** The files that an entry includes; null for an inline item. */
async function filesOf(
  item: Mapping,
  file: string,
  sources: Sources,
  hasPacks: boolean,
): Promise<{ path: string; named: Place }[] | null> {
  const { entries } = item;
  if (!entries.has("path") && !entries.has("paths")) return null;
  for (const [key, { key: beside }] of entries)
    if (key !== "path" && key !== "paths")
      sources.problems.warn(beside, `${key} is ignored: it does not apply to the items of an included file`);
  const extensions = hasPacks ? [...YAML, ".conf"] : YAML;
  return filesNamed(item, file, { matched: extensions, named: extensions }, sources);
}

/** Extensions of the files that a pattern may match, and of a file that is named; null: any. */
interface Extensions {
  readonly matched: readonly string[];
  readonly named: readonly string[] | null;
}

/** The files that `path` or `paths` of an entry name. */
export async function filesNamed(
  { entries, at }: Mapping,
  file: string,
  extensions: Extensions,
  sources: Sources,
): Promise<{ path: string; named: Place }[]> {
  const path = entries.get("path");
  const paths = entries.get("paths");
  const { problems } = sources;
  if (path && paths) {
    problems.error(at, "give either path or paths, not both");
    return [];
  }
  const entry = (path ?? paths)!;
  const text = textAt(entry, problems, path ? "path" : "paths");
  if (text === null) return [];
  const named = entry.value.at;
  if (path) return onePath(text, file, named, extensions.named, sources);
  if (!isPattern(text)) {
    problems.error(named, "paths must be a pattern with *, ?, [ or {; use path for a single file");
    return [];
  }
  return (await matching(text, file, extensions.matched, named, sources)).map((match) => ({ path: match, named }));
}

async function onePath(
  text: string,
  file: string,
  named: Place,
  extensions: readonly string[] | null,
  sources: Sources,
) {
  const target = resolve(dirname(file), text);
  if (isPattern(text) && !(await exists(target))) {
    sources.problems.error(named, `${text} is a pattern: use paths`);
    return [];
  }
  if (extensions && !extensions.includes(extname(text).toLowerCase())) {
    sources.problems.error(named, `${text}: unsupported extension, it must be ${extensions.join(" or ")}`);
    return [];
  }
  return [{ path: target, named }];
}

/** The matching files, sorted. Files with other extensions are skipped with a warning. */
async function matching(
  pattern: string,
  file: string,
  extensions: readonly string[],
  named: Place,
  sources: Sources,
): Promise<string[]> {
  const cwd = dirname(file);
  if (/(^|[/{,])\.\.([/},]|$)/.test(pattern.slice(pattern.search(/[*?[{]/)))) {
    sources.problems.error(named, `${pattern}: .. can only be at the start of a pattern`);
    return [];
  }
  // A walk through other folders could take long.
  const start = resolve(cwd, pattern.slice(0, pattern.search(/[^/]*[*?[{]/)));
  try {
    await requireInside(start, sources.roots);
  } catch (error) {
    sources.problems.error(named, `${shownAs(start, sources)} ${reasonOf(error as Error, start, sources)}`);
    return [];
  }
  const key = JSON.stringify([cwd, pattern]);
  const { glob } = await import("tinyglobby");
  const paths = sources.globs.get(key) ?? (await glob(pattern, GLOB(cwd))).sort();
  sources.globs.set(key, paths);
  if (paths.length > MATCHES_MAX) {
    sources.problems.error(named, `${pattern} matches ${paths.length} files: at most ${MATCHES_MAX} are read`);
    return [];
  }
  if (paths.length === 0) sources.problems.warn(named, `no file matches ${pattern}`);
  return paths.filter((path) => {
    if (extensions.includes(extname(path).toLowerCase())) return true;
    sources.problems.warn(named, `${shownAs(path, sources)} is skipped: it is not ${extensions.join(" or ")}`);
    return false;
  });
}

/** Links to folders are not followed: they could lead anywhere, or in circles. */
function statOfFile(path: PathLike, done: (error: NodeJS.ErrnoException | null, info: Stats) => void): void {
  stat(path, (error, info) => done(error ?? (info.isDirectory() ? new Error("a link to a folder") : null), info));
}

const GLOB = (cwd: string) =>
  ({
    cwd,
    absolute: true,
    onlyFiles: true,
    dot: false,
    expandDirectories: false,
    fs: { stat: statOfFile as unknown as typeof stat },
  }) as const;

export const absolute = (path: string, { directory }: Pick<Sources, "directory">): string =>
  isAbsolute(path) ? path : join(directory, path);
