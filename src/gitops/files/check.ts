// Checks the content of a file against a schema. Each problem has its place, and an unknown key gets a suggestion.
import { z } from "zod";
import { issueText, plainIssues } from "../../api/issue-text.ts";
import { editDistance } from "../../text/nearest.ts";
import { nothingLike, otherName, withoutEffect } from "../schema/other-names.ts";
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
  const followUps = followUpsOf(schema, issues, allowUnknownKeys);
  for (const issue of issues) {
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const isDropped = reportUnknown({ schema, tree, name, path: issue.path, key }, options);
        if (isDropped) drop(value, issue.path, key);
        wrong ||= !isDropped;
      }
    } else if (!followUps.has(followUpOf(issue.path, issue.code))) {
      wrong = true;
      problems.error(placeOf(tree, issue.path), `${dotted(name, issue.path)}: ${textOf(issue)}`);
    }
  }
  if (wrong) return null;
  const again = schema.safeParse(value);
  return again.success ? again.data : null;
}

interface UnknownKey {
  readonly schema: z.ZodType;
  readonly tree: Tree;
  readonly name: string;
  readonly path: Path;
  readonly key: string;
}

/** Whether the key is dropped with a warning. What only has another name here must not vanish. */
function reportUnknown(unknown: UnknownKey, { problems, allowUnknownKeys }: CheckOptions): boolean {
  const { schema, tree, name, path, key } = unknown;
  const at = placeOf(tree, [...path, key]);
  const entry = entryAt(tree, path, key);
  const called = dotted(name, [...path, entry?.isHidden ? shownKey(key, entry) : key]);
  const knownKeys = entry?.isHidden ? [] : keysAt(schema, path);
  const other = otherName(key, knownKeys);
  const ignored = withoutEffect(path.at(-1), key);
  if (ignored !== undefined) problems.warn(at, `${called} ${ignored}`);
  else if (other !== undefined) problems.error(at, `unknown key ${called}: it is called ${other} here`);
  else {
    const nothing = nothingLike(key);
    const near = nothing === undefined ? meant(key, knownKeys) : undefined;
    const hint = nothing !== undefined ? `: ${nothing}` : near === undefined ? "" : `; did you mean ${near}?`;
    problems[allowUnknownKeys ? "warn" : "error"](at, `unknown key ${called}${hint}`);
  }
  return ignored !== undefined || (allowUnknownKeys && other === undefined);
}

/** A missing key, or a rule that it breaks, where another key was meant to be it. */
const followUpOf = (path: Path, code: string): string =>
  JSON.stringify([path, code === "custom" ? "custom" : "missing"]);

/** What is wrong only because a key is misspelled: one mistake is one error. */
function followUpsOf(schema: z.ZodType, issues: readonly z.core.$ZodIssue[], allowUnknownKeys: boolean) {
  const followUps = new Set<string>();
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") continue;
    const knownKeys = keysAt(schema, issue.path);
    for (const key of issue.keys) {
      const other = otherName(key, knownKeys) ?? (allowUnknownKeys ? undefined : meant(key, knownKeys));
      if (other === undefined) continue;
      const path = [...issue.path, other];
      for (const code of ["custom", "missing"]) followUps.add(followUpOf(path, code));
      followUps.add(followUpOf(issue.path, "custom"));
    }
  }
  return followUps;
}

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

/** The most similar known key, if at most two of five letters differ. */
function meant(key: string, knownKeys: readonly string[]): string | undefined {
  const ranked = knownKeys
    .map((candidate) => ({
      candidate,
      distance: editDistance(key.toLowerCase(), candidate.toLowerCase()) / Math.max(key.length, candidate.length),
    }))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0] !== undefined && ranked[0].distance <= 0.4 ? ranked[0].candidate : undefined;
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
  if ("innerType" in def) return unwrapped(def.innerType);
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in);
  // Only objects have keys.
  if (schema instanceof z.ZodUnion)
    return schema.options
      .map(unwrapped)
      .find((option) => option instanceof z.ZodObject || option instanceof z.ZodArray);
  return schema;
}

function drop(value: unknown, path: Path, key: string): void {
  let at = value as Record<PropertyKey, unknown>;
  for (const step of path) at = at[step] as Record<PropertyKey, unknown>;
  delete at[key];
}
