// The fields of a reply, read from its schema, and how to extract them from a row.
import type { z } from "zod";

interface Def {
  type: string;
  shape?: Record<string, z.ZodType>;
  innerType?: z.ZodType;
  element?: z.ZodType;
  options?: z.ZodType[];
  in?: z.ZodType;
}
const defOf = (schema: z.ZodType): Def => schema.def as unknown as Def;

/** The schema inside optional, nullable, default and array. */
function core(schema: z.ZodType): z.ZodType {
  const { innerType, element, type } = defOf(schema);
  if (innerType && type !== "pipe") return core(innerType);
  return type === "array" && element ? core(element) : schema;
}

/** Visits every field of the schema as a dotted path. Any key may follow an `open` path (a free-form object). */
function walk(schema: z.ZodType, prefix: string, visit: (path: string, open: boolean) => void, depth = 0): void {
  const { type, shape } = defOf(core(schema));
  if (prefix !== "") visit(prefix, type === "record" || type === "any" || type === "unknown" || type === "lazy");
  if (type !== "object" || depth > 3) return;
  for (const [key, inner] of Object.entries(shape ?? {})) {
    walk(inner, prefix === "" ? key : `${prefix}.${key}`, visit, depth + 1);
  }
}

export function fieldPaths(schema: z.ZodType): string[] {
  const paths: string[] = [];
  walk(schema, "", (path) => paths.push(path));
  return paths;
}

export function isField(schema: z.ZodType, path: string): boolean {
  let exists = false;
  walk(schema, "", (fieldPath, open) => {
    exists ||= fieldPath === path || (open && path.startsWith(`${fieldPath}.`));
  });
  return exists;
}

/** The value at a dotted path; for a list on the path, the list of its members' values. */
export function valueAt(row: unknown, path: string): unknown {
  let value: unknown = row;
  const keys = path.split(".");
  for (const [index, key] of keys.entries()) {
    if (Array.isArray(value)) return value.map((member) => valueAt(member, keys.slice(index).join(".")));
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return null;
    value = (value as Record<string, unknown>)[key];
  }
  return value ?? null;
}

/** Only the named fields, with their paths as keys. */
export const pick = (row: unknown, paths: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(paths.map((path) => [path, valueAt(row, path)]));
