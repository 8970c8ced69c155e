// Reading the system's own files and programs. What is missing or forbidden counts as empty.
import { execFile } from "node:child_process";
import { readdir, readFile, realpath } from "node:fs/promises";

const PROGRAM_MS = 60_000;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const AT_ONCE = 16;

export const readOr = (path: string, fallback = ""): Promise<string> => readFile(path, "utf8").catch(() => fallback);

export async function linesOf(path: string): Promise<string[]> {
  return (await readOr(path)).split("\n").filter((line) => line.trim() !== "");
}

export async function readJson(path: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

export const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/** The output of a program; empty if it is missing or fails. */
export const outputOf = (file: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const options = { timeout: PROGRAM_MS, maxBuffer: OUTPUT_BYTES, windowsHide: true };
    execFile(file, [...args], options, (error, stdout) => resolve(error === null ? stdout : ""));
  });

/** A few at once, so that a thousand files do not take a thousand descriptors. */
export async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
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
