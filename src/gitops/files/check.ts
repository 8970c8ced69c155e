// Checks the content of a file against a schema. Each problem has its place, and an unknown key gets a suggestion.
import { z } from "zod";
import { issueText, plainIssues } from "../../api/issue-text.ts";
import { editDistance } from "../../text/nearest.ts";
import type { Problems } from "./problems.ts";
import { entryAt, placeOf, shownKey, type Tree } from "./tree.ts";
import { valueFor } from "./written.ts";

export interface CheckOptions {
  readonly problems: Problems;
  /** Unknown nested keys become warnings and are dropped. */
  readonly allowUnknownKeys: boolean;
}

type Path = readonly PropertyKey[];

/** The parsed value; null, with the problems reported, if it does not match. Paths in messages begin with `name`. */
export function check<S extends z.ZodType>(
  schema: S,
  tree: Tree,
  name: string,
  options: CheckOptions,
): z.output<S> | null {
  const { problems, allowUnknownKeys } = options;
  const value = valueFor(schema, tree, problems);
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  let wrong = false;
  const issues = plainIssues(result.error.issues);
  const misspelled = allowUnknownKeys ? new Set() : meantKeys(schema, issues);
  for (const issue of issues) {
    // The key that was meant is missing because it is misspelled: one mistake.
    if (issue.code !== "unrecognized_keys" && misspelled.has(JSON.stringify(issue.path))) continue;
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const at = placeOf(tree, [...issue.path, key]);
        const entry = entryAt(tree, issue.path, key);
        const text = entry?.isHidden
          ? `unknown key ${dotted(name, [...issue.path, shownKey(key, entry)])}`
          : unknownKey(schema, name, issue.path, key);
        if (allowUnknownKeys) problems.warn(at, text);
        else problems.error(at, text);
        if (allowUnknownKeys) drop(value, issue.path, key);
      }
      wrong ||= !allowUnknownKeys;
      continue;
    }
    wrong = true;
    problems.error(placeOf(tree, issue.path), `${dotted(name, issue.path)}: ${textOf(issue)}`);
  }
  if (wrong) return null;
  const again = schema.safeParse(value);
  return again.success ? again.data : null;
}

/** The paths of the keys that unknown ones were meant to be. */
const meantKeys = (schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): ReadonlySet<unknown> =>
  new Set(
    issues.flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => JSON.stringify([...issue.path, meant(key, keysAt(schema, issue.path)) ?? key]))
        : [],
    ),
  );

export const dotted = (name: string, path: Path): string =>
  [...(name === "" ? [] : [name]), ...path.map(String)].join(".");

function textOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_type") return issueText(issue);
  if (issue.input === undefined && issue.message.includes("undefined")) return "is required";
  const hint = issue.expected === "string" && isBare(issue.input) ? ": put it into quotes" : "";
  return `expected ${issue.expected === "int" ? "integer" : issue.expected}, got ${typeName(issue.input)}${hint}`;
}

/** Versions or passwords that YAML reads as a number or a boolean. */
const isBare = (value: unknown): boolean => typeof value === "number" || typeof value === "boolean";

const typeName = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

function unknownKey(schema: z.ZodType, name: string, path: Path, key: string): string {
  const near = meant(key, keysAt(schema, path));
  return `unknown key ${dotted(name, [...path, key])}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** The most similar known key, if at most two of five letters differ. */
function meant(key: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((one) => ({
      one,
      distance: editDistance(key.toLowerCase(), one.toLowerCase()) / Math.max(key.length, one.length),
    }))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0] !== undefined && ranked[0].distance <= 0.4 ? ranked[0].one : undefined;
}

/** The keys that the schema allows at the path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  let at: unknown = schema;
  for (const step of path) {
    const inner = unwrapped(at);
    if (inner instanceof z.ZodObject) at = inner.shape[String(step)];
    else if (inner instanceof z.ZodArray) at = inner.element;
    else if (inner instanceof z.ZodRecord) at = inner.valueType;
    else return [];
  }
  const inner = unwrapped(at);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  if (!(schema instanceof z.ZodType)) return schema;
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType) : schema;
}

function drop(value: unknown, path: Path, key: string): void {
  let at = value as Record<PropertyKey, unknown>;
  for (const step of path) at = at[step] as Record<PropertyKey, unknown>;
  delete at[key];
}
