// Files that cannot be read or written, reported in one way: `--file: a.pkg cannot be read (ENOENT)`.
import { readFile } from "node:fs/promises";
import { printable } from "../../text/printable.ts";
import { type CliError, failed } from "../errors.ts";

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown reason";

/** `named`: the flag, argument or variable that names the file, if the message should contain it. */
export const cannotRead = (error: unknown, path: string, named?: string): CliError =>
  failed(`${named === undefined ? "" : `${named}: `}${printable(path)} cannot be read (${codeOf(error)})`);

export const cannotWrite = (error: unknown, path: string): CliError =>
  failed(`${printable(path)} cannot be written (${codeOf(error)})`);

/** The bytes of a file. Throws a `CliError` if it cannot be read. */
export const bytesOf = (path: string, named?: string): Promise<Buffer> =>
  readFile(path).catch((error: unknown) => {
    throw cannotRead(error, path, named);
  });

/** The text of a file. Throws a `CliError` if it cannot be read. */
export const textOf = async (path: string, named?: string): Promise<string> =>
  (await bytesOf(path, named)).toString("utf8");
