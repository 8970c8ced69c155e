// Secrets in files: values contain references only; the texts are kept beside them.
import { createHash } from "node:crypto";
import { caTypes, secretFields } from "../../api/certificates/ca.ts";
import { configSecrets, type SecretFields, secretPaths } from "../../api/secret-fields.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Value } from "./overlay.ts";
import type { Place, Problems } from "./problems.ts";
import { placeOf, subtree, type Tree } from "./tree.ts";

/** By section of the settings. Some types of certificate authorities have lists, others one object. */
const secretsIn: Readonly<Record<string, SecretFields>> = {
  ...configSecrets,
  certificate_authorities: {
    secrets: caTypes.flatMap((type) => [`${type}.${secretFields[type]}`, `${type}.*.${secretFields[type]}`]),
    shown: [],
  },
  directory_graph_credentials: { secrets: ["*.client_secret"], shown: [] },
};

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
  readonly #problems: Problems;
  readonly #enrollSecrets = new Map<string, Place>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** The reference of the text; a mask is reported as a problem at its place. */
  #addSecret(text: string, tree: Tree, path: readonly string[], name: string): Json {
    if (isMask(text))
      this.#problems.error(
        placeOf(tree, path),
        `${name}: is the mask of a secret: give the secret itself, as a variable`,
      );
    else if (text !== "") this.texts.set(refOf(text), text);
    return secretRef(text);
  }

  /** The reference of a custom variable's value. */
  ofVariable(value: string): Json {
    this.texts.set(refOf(value), value);
    return secretRef(value);
  }

  /** The settings of one owner with references in place of their secrets. */
  ofSettings(settings: Value, tree: Tree, called: string): Value {
    return Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, this.#ofPart(name, value, tree, called)]),
    );
  }

  #ofPart(name: string, value: unknown, tree: Tree, called: string): unknown {
    if (name === "secrets" && Array.isArray(value))
      return (value as { secret: string }[]).map(({ secret }, i) => ({
        secret: this.#enrollSecret(secret, tree, ["secrets", String(i), "secret"], called),
      }));
    const fields = secretsIn[name];
    if (!fields || !(isRecord(value) || Array.isArray(value))) return value;
    const part = subtree(tree, [name]);
    return secretPaths(fields, value).reduce<unknown>(
      (left, path) => replaced(left, path, (text) => this.#secretOrProblem(text, part, path, `${called}.${name}`)),
      value,
    );
  }

  /** An enroll secret decides which team a host joins, so no two owners can have the same. */
  #enrollSecret(text: string, tree: Tree, path: readonly string[], called: string): Json {
    const ref = this.#addSecret(text, tree, path, [called, ...path].join("."));
    const at = placeOf(tree, path);
    const before = this.#enrollSecrets.get(text);
    if (before) this.#problems.error(at, `the same enroll secret is already in ${before.file}:${before.line}`);
    else this.#enrollSecrets.set(text, at);
    return ref;
  }

  #secretOrProblem(value: unknown, tree: Tree, path: readonly string[], name: string): unknown {
    if (typeof value === "string") return this.#addSecret(value, tree, path, [name, ...path].join("."));
    if (value !== null && value !== undefined)
      this.#problems.error(placeOf(tree, path), `${[name, ...path].join(".")}: a secret must be a string`);
    return value;
  }
}

/** A copy with the value at the path replaced; an unchanged copy if the path does not exist. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: (old: unknown) => unknown): unknown {
  if (key === undefined) return by(value);
  if (Array.isArray(value))
    return value.map((element, i) => (i === Number(key) ? replaced(element, rest, by) : element));
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: replaced((value as Record<string, unknown>)[key], rest, by) };
}
