// Functions that osquery adds to SQLite's own.
import { createHash } from "node:crypto";
import type { Database } from "sql.js";
import { versionCompare } from "../../agent-wire/version-compare.ts";

type Value = string | number | null;

function addressNumber(address: string): Value {
  const parts = address.split(".").map(Number);
  const isAddress = parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255);
  return isAddress ? parts.reduce((sum, part) => sum * 256 + part, 0) : null;
}

const digest = (algorithm: string) => (text: string) => createHash(algorithm).update(text).digest("hex");
const anyOf = (characters: string) => new RegExp(`[${characters.replace(/[\]\\^-]/g, "\\$&")}]`);

const functions: Readonly<Record<string, (...texts: [string, string, string]) => Value>> = {
  regex_match: (text, pattern, group) => new RegExp(pattern).exec(text)?.[Number(group)] ?? null,
  regex_split: (text, pattern, part) => text.split(new RegExp(pattern))[Number(part)] ?? null,
  split: (text, characters, part) =>
    text.split(anyOf(characters)).filter((piece) => piece !== "")[Number(part)] ?? null,
  version_compare: (a, b) => versionCompare(a, b),
  inet_aton: (address) => addressNumber(address),
  to_base64: (text) => Buffer.from(text).toString("base64"),
  from_base64: (text) => Buffer.from(text, "base64").toString("utf8"),
  md5: digest("md5"),
  sha1: digest("sha1"),
  sha256: digest("sha256"),
};

export function addFunctions(db: Database): void {
  for (const [name, apply] of Object.entries(functions)) {
    const strict = (...values: Value[]): Value =>
      values.some((value) => value === null) ? null : apply(...(values.map(String) as [string, string, string]));
    // The number of arguments that SQLite accepts.
    db.create_function(name, Object.defineProperty(strict, "length", { value: apply.length }));
  }
}
