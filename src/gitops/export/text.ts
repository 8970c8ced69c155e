// YAML that parses to the same values: text that looks like a variable is escaped, and secrets become variables.

import { createHash } from "node:crypto";
import { Document, isScalar, Scalar, visit } from "yaml";
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import { isSecretRef, type Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { PER_HOST } from "../environment/variables.ts";
import { reference } from "../files/substitute.ts";

/** An environment variable that exported files refer to. */
export interface Variable {
  readonly name: string;
  /** A description of the variable for people. */
  readonly about: string;
  /** The form in which its value has to be written. */
  readonly form: "line" | "json";
}

/** The variables of all files of one export, each with a unique name. */
export class Variables {
  readonly all: Variable[] = [];
  readonly #taken = new Set<string>();

  /** The name is built from `parts`; `identity` distinguishes variables that would have the same name. */
  add(parts: readonly string[], identity: string, about: string, form: Variable["form"]): Variable {
    const name = parts.map(word).filter(Boolean).join("_");
    // Names with the prefix of custom variables are those that the files have already.
    const isTaken = this.#taken.has(name) || name.startsWith(SECRET_PREFIX);
    const unique = isTaken ? `${name.replace(SECRET_PREFIX, "")}_${digest(identity).toUpperCase()}` : name;
    this.#taken.add(unique);
    const variable = { name: unique, about, form };
    this.all.push(variable);
    return variable;
  }

  /** A variable that the files name as it is. */
  addNamed(name: string, about: string): void {
    this.#taken.add(name);
    this.all.push({ name, about, form: "line" });
  }
}

/** The characters of a text that a variable's name may contain; a short hash if there are none. */
function word(text: string): string {
  const kept = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_|_$/g, "")
    .toUpperCase();
  return kept === "" && text !== "" ? digest(text).toUpperCase() : kept.slice(0, 60);
}

export const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** Returns the variable for the secret at a path. */
export type NameSecret = (path: readonly string[]) => Variable;

/** The value as YAML, with its secrets as `$NAME`. */
export function yamlOf(value: Json, nameSecret: NameSecret): string {
  const mark = markNotIn(JSON.stringify(value));
  const variables: Variable[] = [];
  const marked = replaceSecrets(value, [], (path) => `${mark}${variables.push(nameSecret(path)) - 1}x`);
  const document = new Document(marked, { aliasDuplicateObjects: false });
  const whole = new RegExp(`^${mark}(\\d+)x$`);
  visit(document, {
    Scalar(_, node) {
      if (!isScalar(node) || typeof node.value !== "string") return;
      const [, index] = whole.exec(node.value) ?? [];
      // In a literal block, a text of one line needs no quoting.
      if (index !== undefined)
        node.type = variables[Number(index)]!.form === "line" ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
      else if (beginsBlank.test(node.value) || node.value === MERGE_KEY) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const text = escaped(document.toString({ lineWidth: 0, singleQuote: true }));
  return text.replace(new RegExp(`${mark}(\\d+)x`, "g"), (_, index) => `$${variables[Number(index)]!.name}`);
}

/** Without quotes it would merge another object. */
const MERGE_KEY = "<<";

/** The library writes such texts as blocks that lose their leading blanks. */
const beginsBlank = /^\n*[ \t]+(?:\n|$)/;

function replaceSecrets(value: Json, path: readonly string[], replace: (path: readonly string[]) => string): Json {
  if (isSecretRef(value)) return replace(path);
  if (Array.isArray(value)) return value.map((part, i) => replaceSecrets(part, [...path, String(i)], replace));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, replaceSecrets(part, [...path, key], replace)]),
  );
}

function markNotIn(text: string): string {
  for (let n = 0; ; n++) {
    const mark = `svcsecret${n}x`;
    if (!text.includes(mark)) return mark;
  }
}

/** The text that substitution turns into this one. */
export const escaped = (text: string): string =>
  text.replace(reference, (whole: string, slashes: string, bare?: string, braced?: string) => {
    const isKept = slashes.length % 2 === 0 && (bare ?? braced)!.startsWith(PER_HOST);
    return isKept ? whole : `${"\\".repeat(2 * slashes.length + 1)}${whole.slice(slashes.length)}`;
  });
