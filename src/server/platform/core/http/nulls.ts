// Many clients send `null` for every field that is not set. If a field is optional and null has no meaning of its
// own, null is treated like a missing field.
import { z } from "zod";
import { containerOf, isContainer } from "../../../../api/containers.ts";
import { nullsRefused } from "../../../../api/fields.ts";

/** Removes, at every depth, fields that are null although their schema is optional and does not accept null. */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inner = containerOf(schema);
  if (inner instanceof z.ZodArray) {
    const element = containerOf(inner.element as z.ZodType);
    return Array.isArray(value) && isContainer(element) ? value.map((part) => withoutNulls(element, part)) : value;
  }
  if (inner instanceof z.ZodUnion) {
    const trimmed = inner.options.map(
      (option) => [option as z.ZodType, withoutNulls(option as z.ZodType, value)] as const,
    );
    return trimmed.find(([option, part]) => option.safeParse(part).success)?.[1] ?? value;
  }
  if (Array.isArray(value)) return value;
  if (inner instanceof z.ZodRecord) {
    const entry = inner.valueType as z.ZodType;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutNulls(entry, part)]));
  }
  if (!(inner instanceof z.ZodObject) || nullsRefused.has(inner)) return value;
  const { shape } = inner;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const field = Object.hasOwn(shape, key) ? (shape[key] as z.ZodType) : null;
      if (field === null) return [[key, part]];
      return part === null && isUnset(field) ? [] : [[key, withoutNulls(field, part)]];
    }),
  );
}

/** Whether the field is optional and does not accept null. */
const isUnset = (field: z.ZodType): boolean => !field.safeParse(null).success && field.safeParse(undefined).success;
