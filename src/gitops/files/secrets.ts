// Secrets in files: values contain references only; the texts are kept beside them.
import { createHash } from "node:crypto";
import { type CaType, secretFields } from "../../api/ca.ts";
import { configSecrets, type SecretFields, secretPaths } from "../../api/secret-fields.ts";
import type { Json } from "../plan/diff.ts";
import type { Problems } from "./problems.ts";
import { placeOf, type Tree } from "./tree.ts";

/** Equal texts have the same reference. */
export const refOf = (text: string): string =>
  createHash("sha256").update(`svc ref\0${text}`).digest("hex").slice(0, 32);

/** The placeholder for a secret; an empty secret stays empty. */
const secretRef = (text: string): Json => (text === "" ? "" : { $secret: refOf(text) });

/** The server's replies show a run of asterisks in place of a secret. */
const isMask = (text: string): boolean => /^\*{3,}$/.test(text);

/** Collects the secret texts of all files of a run. */
export class SecretTexts {
  readonly texts = new Map<string, string>();
  private readonly problems: Problems;

  constructor(problems: Problems) {
    this.problems = problems;
  }

  /** The reference of the text; a mask is reported as a problem at its place. */
  take(text: string, tree: Tree, path: readonly string[], name: string): Json {
    if (isMask(text))
      this.problems.error(
        placeOf(tree, path),
        `${name}: is the mask of a secret: give the secret itself, as a variable`,
      );
    else if (text !== "") this.texts.set(refOf(text), text);
    return secretRef(text);
  }

  /** A section with references in place of its secrets. */
  ofSection(section: string, value: Record<string, unknown>, tree: Tree, within: string): Record<string, unknown> {
    const fields = (configSecrets as Readonly<Record<string, SecretFields>>)[section];
    if (!fields) return value;
    return secretPaths(fields, value).reduce(
      (left, path) =>
        replaced(left, path, (text) => this.taken(text, tree, path, `${within}.${section}`)) as typeof value,
      value,
    );
  }

  ofAuthority(type: CaType, value: Record<string, unknown>, tree: Tree, at: string): Record<string, unknown> {
    const path = [secretFields[type]];
    return replaced(value, path, (text) => this.taken(text, tree, path, at)) as typeof value;
  }

  private taken(given: unknown, tree: Tree, path: readonly string[], name: string): unknown {
    if (typeof given === "string") return this.take(given, tree, path, [name, ...path].join("."));
    if (given !== null && given !== undefined)
      this.problems.error(placeOf(tree, path), `${[name, ...path].join(".")}: a secret must be a string`);
    return given;
  }
}

/** A copy with the value at the path replaced; an unchanged copy if the path does not exist. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: (old: unknown) => unknown): unknown {
  if (key === undefined) return by(value);
  if (Array.isArray(value)) return value.map((one, i) => (i === Number(key) ? replaced(one, rest, by) : one));
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: replaced((value as Record<string, unknown>)[key], rest, by) };
}
