// Merges a change into a section. Strict about keys and types, with the error messages of the strict endpoints.
import { z } from "zod";
import { issueText, jsonType, typeName } from "../../../api/issue-text.ts";
import { isRecord } from "../../../text/record.ts";
import { badRequest, type FieldError, invalid } from "../../platform/core/errors.ts";
import { withoutNulls } from "../../platform/core/http/nulls.ts";
import { unsupported } from "../../platform/core/http/unknown-keys.ts";

type Json = Record<string, unknown>;

/** 400 for a key that does not exist; the candidates are those that do. */
export const unsupportedKey = (path: string, candidates: Iterable<string>) =>
  unsupported("key", [{ path: path.split("."), candidates: [...candidates] }]);
export const wrongType = (path: string, expected: string, value: unknown) =>
  badRequest(`invalid value type at '${path}': expected ${expected} but got ${jsonType(value)}`, path);

/**
 * Returns `base` with the given fields changed. Objects with named fields are merged. Everything else (texts,
 * numbers, lists, free-form maps) is replaced. 400 for an unknown key or a wrong type, 422 for a value out of bounds.
 */
export function merge(schema: z.ZodType, base: unknown, change: unknown, path: string): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(change)) {
    for (const [i, entry] of change.entries()) checkKeys(inner.element as z.ZodType, entry, `${path}.${i}`);
    return leaf(schema, change, path);
  }
  if (!(inner instanceof z.ZodObject) || (change === null && schema.safeParse(null).success))
    return leaf(schema, change, path);
  if (!isRecord(change)) throw wrongType(path, "object", change);
  const result: Json = isRecord(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(change)) {
    const at = `${path}.${key}`;
    if (!Object.hasOwn(inner.shape, key)) throw unsupportedKey(at, Object.keys(inner.shape));
    result[key] = merge(inner.shape[key] as z.ZodType, result[key], value, at);
  }
  return result;
}

/** A change without the fields that are null, where null is no value of the field: null means that it is not given. */
export function withoutUnset(schema: z.ZodType, change: unknown): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray) return withoutNulls(inner, change);
  if (!(inner instanceof z.ZodObject) || !isRecord(change)) return change;
  return Object.fromEntries(
    Object.entries(change).flatMap(([key, value]) => {
      const field = Object.hasOwn(inner.shape, key) ? (inner.shape[key] as z.ZodType) : null;
      if (field === null) return [[key, value]];
      return value === null && !field.safeParse(null).success ? [] : [[key, withoutUnset(field, value)]];
    }),
  );
}

/** Refuses unknown keys in list entries first, because entries are parsed as a whole, which drops unknown keys. */
function checkKeys(schema: z.ZodType, change: unknown, path: string): void {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject) || !isRecord(change)) return;
  for (const key of Object.keys(change))
    if (!Object.hasOwn(inner.shape, key)) throw unsupportedKey(`${path}.${key}`, Object.keys(inner.shape));
}

/** Merges two well-formed values: objects are merged, everything else is replaced. */
export const mergedValues = (base: unknown, change: unknown): unknown =>
  change === undefined
    ? base
    : isRecord(base) && isRecord(change)
      ? Object.fromEntries([
          ...Object.entries(base),
          ...Object.entries(change).map(([key, value]) => [key, mergedValues(base[key], value)]),
        ])
      : change;

function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}

function leaf(schema: z.ZodType, input: unknown, path: string): unknown {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const at = [path, ...issue.path.map(String)].join(".");
  if (issue.code === "invalid_type" && issue.input === undefined) throw badRequest("is required", at);
  if (issue.code === "invalid_type") throw wrongType(at, typeName(issue.expected), issue.input);
  throw invalid(at, issueText(issue));
}

type Path = string | readonly string[];
const keysOf = (path: Path): readonly string[] => (typeof path === "string" ? path.split(".") : path);

/** The value at the path, through objects and lists. */
export function getPath(value: unknown, path: Path): unknown {
  let part = value;
  for (const key of keysOf(path))
    part = (isRecord(part) || Array.isArray(part)) && Object.hasOwn(part, key) ? (part as Json)[key] : undefined;
  return part;
}

/** A copy with the value at the path set. Unchanged if the path does not exist. */
export function withPath<T>(value: T, path: Path, to: unknown): T {
  const [key, ...rest] = keysOf(path) as [string, ...string[]];
  if (!(isRecord(value) || Array.isArray(value)) || !Object.hasOwn(value, key)) return value;
  const inner = rest.length === 0 ? to : withPath((value as Json)[key], rest, to);
  if (Array.isArray(value)) return value.with(Number(key), inner) as T;
  return { ...value, [key]: inner };
}

/** A copy without the value at the path. */
export function without(value: unknown, path: Path): unknown {
  const [key, ...rest] = keysOf(path) as [string, ...string[]];
  if (!isRecord(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [key]: without(inner, rest) };
}

/** Prefixes the names of the errors with the section's name. */
export const within = (section: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ name, reason }) => ({ name: `${section}.${name}`, reason }));
