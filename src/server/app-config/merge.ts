// Laying a change over a section: strict in keys and types, with the texts that the strict endpoints answer.
import { z } from "zod";
import { badRequest, type FieldError, invalid } from "../core/errors.ts";

type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const kindOf = (value: unknown): string =>
  value === null ? "null" : Array.isArray(value) ? "array" : typeof value;

export const unsupportedKey = (path: string) =>
  badRequest(`unsupported key provided: "${path.split(".").at(-1)}"`, path);
export const wrongType = (path: string, expected: string, value: unknown) =>
  badRequest(`invalid value type at '${path}': expected ${expected} but got ${kindOf(value)}`, path);

/**
 * `base` with the given fields changed. Objects with named fields are merged, everything else (texts, numbers, arrays, free
 * maps) is replaced. 400 for an unknown key or a wrong type, 422 for a value out of bounds.
 */
export function merge(schema: z.ZodType, base: unknown, given: unknown, path: string): unknown {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject) || (given === null && schema.safeParse(null).success))
    return leaf(schema, given, path);
  if (!isObject(given)) throw wrongType(path, "object", given);
  const result: Json = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(given)) {
    const at = `${path}.${key}`;
    if (!Object.hasOwn(inner.shape, key)) throw unsupportedKey(at);
    result[key] = merge(inner.shape[key] as z.ZodType, result[key], value, at);
  }
  return result;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}

function leaf(schema: z.ZodType, given: unknown, path: string): unknown {
  const result = schema.safeParse(given, { reportInput: true });
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const at = [path, ...issue.path.map(String)].join(".");
  if (issue.code === "invalid_type")
    throw wrongType(at, issue.expected === "int" ? "integer" : issue.expected, issue.input);
  throw invalid(at, issue.message);
}

export function getPath(value: unknown, path: string): unknown {
  let found = value;
  for (const key of path.split(".")) found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  return found;
}

/** A copy with the value at the path, which the copy's objects lead to; nothing changes where they do not. */
export function withPath<T>(value: T, path: string, to: unknown): T {
  const [key, ...rest] = path.split(".") as [string, ...string[]];
  if (!isObject(value) || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: rest.length === 0 ? to : withPath(value[key], rest.join("."), to) };
}

/** The errors with the section's name before theirs. */
export const within = (section: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ name, reason }) => ({ name: `${section}.${name}`, reason }));
