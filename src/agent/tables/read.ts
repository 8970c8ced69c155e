// Reading the system's own files and programs. What is missing or forbidden counts as empty.
import { execFile } from "node:child_process";
import { opendir, realpath } from "node:fs/promises";
import { readRegular } from "../reading/regular-file.ts";
import { within } from "../reading/time-limit.ts";

const PROGRAM_MS = 30_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
/** Bytes of a file of the system, such as the list of all packages. */
const FILE_BYTES = 64 * 1024 * 1024;
const NAMES_MAX = 100_000;
const LIST_MS = 10_000;
const PATH_MS = 2_000;
const MAX_CONCURRENT = 16;

export const readOr = (path: string, fallback = "", maxBytes = FILE_BYTES): Promise<string> =>
  readRegular(path, { maxBytes }).then(
    (content) => content.toString("utf8"),
    () => fallback,
  );

export async function linesOf(path: string): Promise<string[]> {
  return (await readOr(path)).split("\n").filter((line) => line.trim() !== "");
}

/** Empty unless it is an object. */
export function objectIn(json: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(json));
  } catch {
    return {};
  }
}

export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

/** The names in a folder, in order; only the first ones that the system lists if there are very many. */
export async function namesIn(folder: string, most = NAMES_MAX): Promise<string[]> {
  const names: string[] = [];
  const list = async () => {
    for await (const { name } of await opendir(folder, { bufferSize: 512 })) if (names.push(name) >= most) return;
  };
  await within(LIST_MS, folder, list()).catch(() => {});
  return names.sort();
}

export const realPath = (path: string): Promise<string> => within(PATH_MS, path, realpath(path)).catch(() => path);

interface ProgramOptions {
  /** The account that runs it; default: the agent's. */
  readonly uid?: number;
  readonly gid?: number;
  readonly input?: string | Buffer;
}

/** The output of a program; empty if it is missing, fails, or takes too long. */
export function outputOf(
  file: string,
  args: readonly string[],
  { input, ...account }: ProgramOptions = {},
): Promise<string> {
  const limits = { timeout: PROGRAM_MS, maxBuffer: OUTPUT_BYTES, killSignal: "SIGKILL" } as const;
  const output = new Promise<string>((resolve) => {
    const options = { ...limits, ...account, windowsHide: true };
    const child = execFile(file, [...args], options, (error, stdout) => resolve(error === null ? stdout : ""));
    // The program may end before it has read all.
    child.stdin?.on("error", () => {}).end(input);
  });
  // A program that hangs in the kernel does not even end when it is killed.
  return within(PROGRAM_MS + 1_000, file, output).catch(() => "");
}

/** A few at once, so that a thousand files do not take a thousand descriptors. */
export async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker));
  return results;
}

/** The fields of a header such as those of packages: `Name: value`, with lines that continue indented. */
export function fieldsOf(header: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [, name, value] of header.matchAll(/^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)/gm))
    if (!fields.has(name!)) fields.set(name!, value!.trim());
  return fields;
}

export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");
