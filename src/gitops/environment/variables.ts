// The variables of the environment that files name, and which of them they may use.

import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import { ownOf } from "../../text/record.ts";
import { Masks } from "./masks.ts";

export type EnvironmentValues = Readonly<Record<string, string | undefined>>;

/** The server replaces these for each host. */
export const PER_HOST = "SVC_VAR_";
const HOST_VITAL = "SVC_HOST_VITAL_";

/** What the server replaces in the files that hosts get. */
export const isServerVariable = (name: string): boolean =>
  [PER_HOST, SECRET_PREFIX, HOST_VITAL].some((prefix) => name.startsWith(prefix));

/** What svc and the libraries that it uses read from the environment. Whoever writes a file must not get their values. */
const PROGRAM = "SVC_";
const ofLibraries: ReadonlySet<string> = new Set([
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "PGPASSWORD",
]);
const isOfProgram = (name: string): boolean =>
  ofLibraries.has(name) || (name.startsWith(PROGRAM) && !isServerVariable(name));

const OF_OTHERS = /^FLEET_((?:VAR|SECRET)_[A-Za-z0-9_]+)$/;

/** What a variable of other systems is called here. */
export const otherVariable = (name: string): string | undefined => {
  const rest = OF_OTHERS.exec(name)?.[1];
  return rest === undefined ? undefined : `$SVC_${rest}`;
};

export class Environment {
  /** The values that were read, which are not printed. */
  readonly masks = new Masks();
  readonly #values: EnvironmentValues;
  readonly #allowed: AllowedNames | null;
  readonly #masked = new Set<string>();

  /** `allowed`: the names that files may use, `*` at the end stands for any further characters; null: all of them. */
  constructor(values: EnvironmentValues, allowed: readonly string[] | null = null) {
    this.#values = values;
    this.#allowed = allowed && new AllowedNames(allowed);
  }

  /** The value, which is masked from now on, or why there is none. */
  valueOf(name: string): string | { readonly problem: string } {
    if (isOfProgram(name))
      return {
        problem: `$${name} cannot be used in files: it may be a setting of svc itself. Give the value under another name`,
      };
    if (this.#allowed?.has(name) === false)
      return { problem: `the environment variable ${name} may not be used: it is not among the names of --env-allow` };
    const value = ownOf(this.#values, name);
    const other = otherVariable(name);
    const hint = other === undefined ? "" : `. What the server fills in is called ${other} here`;
    if (value === undefined) return { problem: `the environment variable ${name} is not set${hint}` };
    if (!this.#masked.has(name)) this.masks.add([name], value);
    this.#masked.add(name);
    return value;
  }

  /** The value; empty if there is none that files may use. */
  optionalValueOf(name: string): string {
    const value = this.valueOf(name);
    return typeof value === "string" ? value : "";
  }
}

/** What a name or pattern may look like. */
export const NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*\*?$/;

class AllowedNames {
  readonly #names: ReadonlySet<string>;
  readonly #prefixes: readonly string[];

  constructor(patterns: readonly string[]) {
    this.#names = new Set(patterns);
    this.#prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  }
  has(name: string): boolean {
    return this.#names.has(name) || this.#prefixes.some((prefix) => name.startsWith(prefix));
  }
}
