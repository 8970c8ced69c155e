// Functions that osquery adds to SQLite's own.
import { createHash } from "node:crypto";
import type { Database } from "sql.js";
import { versionCompare } from "../../agent-wire/version-compare.ts";

type Value = string | number | null;

/** NULL if an argument is NULL. */
const strict =
  (apply: (...texts: string[]) => Value) =>
  (...values: Value[]): Value =>
    values.some((value) => value === null) ? null : apply(...values.map(String));

const digest = (algorithm: string) => strict((value) => createHash(algorithm).update(value!).digest("hex"));

function addressNumber(address: string): Value {
  const parts = address.split(".").map(Number);
  const isAddress = parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255);
  return isAddress ? parts.reduce((sum, part) => sum * 256 + part, 0) : null;
}

const escaped = (text: string) => text.replace(/[\]\\^-]/g, "\\$&");

export function addFunctions(db: Database): void {
  db.create_function(
    "regex_match",
    strict((text, pattern, group) => new RegExp(pattern!).exec(text!)?.[Number(group)] ?? null),
  );
  db.create_function(
    "regex_split",
    strict((text, pattern, part) => text!.split(new RegExp(pattern!))[Number(part)] ?? null),
  );
  db.create_function(
    "split",
    strict(
      (text, marks, part) =>
        text!.split(new RegExp(`[${escaped(marks!)}]`)).filter((one) => one !== "")[Number(part)] ?? null,
    ),
  );
  db.create_function(
    "version_compare",
    strict((a, b) => versionCompare(a!, b!)),
  );
  db.create_function(
    "inet_aton",
    strict((address) => addressNumber(address!)),
  );
  db.create_function(
    "to_base64",
    strict((text) => Buffer.from(text!).toString("base64")),
  );
  db.create_function(
    "from_base64",
    strict((text) => Buffer.from(text!, "base64").toString("utf8")),
  );
  for (const name of ["md5", "sha1", "sha256"]) db.create_function(name, digest(name));
}
