// Request bodies and secrets from files, stdin and the environment. A secret is never passed as the value of a flag.
import type { Interfaces } from "@oclif/core";
import * as Flags from "@oclif/core/flags";
import { usage } from "../errors.ts";
import type { Io } from "../io.ts";
import { textOf } from "./file-errors.ts";

const read = new WeakSet<Io>();

/** The text of a file, or of stdin for `-`. */
export async function readText(io: Io, path: string, flag: string): Promise<string> {
  if (path === "-") {
    if (read.has(io)) throw usage("stdin can be read only once", "Give the other one as a file.");
    read.add(io);
    if (io.tty.stdin) io.err(`reading ${flag} from the terminal; end with Ctrl-D\n`);
    return io.readStdin();
  }
  return textOf(path, flag);
}

/** The object in `--input` (JSON or YAML); empty if the flag is not set. */
export async function readBody(io: Io, path: string | undefined): Promise<Record<string, unknown>> {
  if (path === undefined) return {};
  const value = await readValue(io, path);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw usage("--input: must be an object");
  return value as Record<string, unknown>;
}

export async function readValue(io: Io, path: string): Promise<unknown> {
  const text = await readText(io, path, "--input");
  try {
    return JSON.parse(text);
  } catch {
    const { parseDocument } = await import("yaml");
    const document = parseDocument(text);
    if (document.errors[0]) throw usage(`--input: ${document.errors[0].message.split("\n")[0]}`);
    return document.toJS();
  }
}

type SecretFlags<Field extends string> = Record<`${Field}-stdin`, Interfaces.BooleanFlag<boolean>> &
  Record<`${Field}-file`, Interfaces.OptionFlag<string | undefined>>;

/** The flags `--FIELD-stdin` and `--FIELD-file FILE`. */
export const secretFlags = <Field extends string>(field: Field, what: string): SecretFlags<Field> =>
  ({
    [`${field}-stdin`]: Flags.boolean({ summary: `Read ${what} from stdin.`, exclusive: [`${field}-file`] }),
    [`${field}-file`]: Flags.string({ summary: `Read ${what} from a file.`, helpValue: "FILE" }),
  }) as SecretFlags<Field>;

/** The secret from its flags or from the environment variable; undefined if neither is set. */
export async function readSecret(
  io: Io,
  flags: Readonly<Record<string, unknown>>,
  field: string,
  env?: string,
): Promise<string | undefined> {
  const file = flags[`${field}-file`];
  const path = flags[`${field}-stdin`] === true ? "-" : typeof file === "string" ? file : undefined;
  if (path !== undefined) {
    // Editors and `echo` end a file with a line break that is not part of the secret.
    const text = (await readText(io, path, `--${field}-${path === "-" ? "stdin" : "file"}`)).replace(/\r?\n$/, "");
    if (text === "") throw usage(`--${field}-${path === "-" ? "stdin" : "file"}: the input is empty`);
    return text;
  }
  const value = env === undefined ? undefined : io.env[env];
  return value === undefined || value === "" ? undefined : value;
}

/** Parses a value from the command line: true, false, null, a number, or @file; anything else is text. */
export async function parseValue(io: Io, text: string, flag: string): Promise<unknown> {
  if (text === "true") return true;
  if (text === "false") return false;
  if (text === "null") return null;
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text))) return Number(text);
  if (!text.startsWith("@")) return text;
  const content = await readText(io, text.slice(1), flag);
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}
