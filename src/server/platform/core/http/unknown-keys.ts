// Keys that a schema does not have. Validation alone would drop them, and the client would believe that they had an effect.
import { z } from "zod";
import { acceptedKeys, placeOf } from "../../../../api/accepted-keys.ts";
import { containerOf, isContainer } from "../../../../api/containers.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { nearest } from "../../../../text/nearest.ts";
import { isRecord } from "../../../../text/record.ts";
import { ApiError, type FieldError } from "../errors.ts";

interface UnknownKey {
  readonly path: readonly string[];
  /** The keys that there could be instead. */
  readonly candidates: readonly string[];
  /** Page that describes the key, if that is known. */
  readonly place?: string | undefined;
}

/** The unknown keys at every depth, in the order in which they were sent. */
export function unknownKeys(schema: z.ZodType, value: unknown, path: readonly string[] = []): UnknownKey[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = containerOf(schema);
  if (inner instanceof z.ZodArray) {
    const element = containerOf(inner.element as z.ZodType);
    if (!Array.isArray(value) || !isContainer(element)) return [];
    return value.flatMap((entry, i) => unknownKeys(element, entry, [...path, String(i)]));
  }
  if (inner instanceof z.ZodUnion) return unknownInUnion(inner.options as z.ZodType[], value, path);
  if (!isRecord(value)) return [];
  if (inner instanceof z.ZodRecord) {
    const entry = containerOf(inner.valueType as z.ZodType);
    if (!isContainer(entry)) return [];
    return Object.entries(value).flatMap(([key, field]) => unknownKeys(entry, field, [...path, key]));
  }
  return inner instanceof z.ZodObject ? unknownInObject(inner, value, path) : [];
}

function unknownInObject(schema: z.ZodObject, value: Record<string, unknown>, path: readonly string[]): UnknownKey[] {
  const { shape } = schema;
  const { catchall } = schema.def;
  const isOpen = catchall !== undefined && !(catchall instanceof z.ZodNever);
  return Object.entries(value).flatMap(([key, field]) => {
    if (Object.hasOwn(shape, key)) return unknownKeys(shape[key] as z.ZodType, field, [...path, key]);
    return isOpen ? [] : [{ path: [...path, key], candidates: Object.keys(shape) }];
  });
}

/** Unknown keys of the form that the value comes closest to. */
function unknownInUnion(options: readonly z.ZodType[], value: object, path: readonly string[]): UnknownKey[] {
  const fitting = options.filter((option) => {
    const inner = containerOf(option);
    return Array.isArray(value) ? inner instanceof z.ZodArray : isContainer(inner) && !(inner instanceof z.ZodArray);
  });
  const candidates = fitting.map((option) => unknownKeys(option, value, path));
  return candidates.sort((keys, other) => keys.length - other.length)[0] ?? [];
}

/** Whether one of the patterns, such as `specs.*.id`, names the path. */
export const isNamed = (path: readonly string[], patterns: readonly string[]): boolean =>
  patterns.some((pattern) => {
    const parts = pattern.split(".");
    return parts.length === path.length && parts.every((part, i) => part === "*" || part === path[i]);
  });

/**
 * 400 for keys of the value that neither the schema nor the endpoint's list of accepted keys has. `at` is the path of the
 * value in the body.
 */
export function checkKeys(
  what: "key" | "parameter",
  endpoint: AnyEndpoint,
  { schema, value, at = [] }: { schema: z.ZodType; value: unknown; at?: readonly string[] },
): void {
  const accepted = acceptedKeys(endpoint);
  const ignored = (what === "key" ? accepted.body : accepted.query) ?? [];
  if (ignored === "any") return;
  const unknown = unknownKeys(schema, value, at).filter(({ path }) => !isNamed(path, ignored));
  if (unknown.length === 0) return;
  throw unsupported(
    what,
    unknown.map((key) => ({ ...key, place: placeOf(endpoint, key.path.join(".")) })),
  );
}

/** How many keys an error lists if none of them resembles the unknown one. */
const MAX_LISTED_KEYS = 12;
const MAX_ERRORS = 100;
const MAX_SHOWN_CHARACTERS = 100;

/** 400 that names the keys, each with what may have been meant. */
export const unsupported = (what: "key" | "parameter", keys: readonly UnknownKey[]): ApiError =>
  new ApiError(
    400,
    "Bad request",
    keys.slice(0, MAX_ERRORS).map((key) => unsupportedError(what, key)),
  );

function unsupportedError(what: "key" | "parameter", { path, candidates, place }: UnknownKey): FieldError {
  const shown = path.map((key) => key.slice(0, MAX_SHOWN_CHARACTERS));
  const key = shown.at(-1)!;
  return {
    name: shown.join("."),
    reason: `unsupported ${what} provided: "${key}"${place === undefined ? suggestion(key, candidates) : `: ${place}`}`,
  };
}

function suggestion(key: string, candidates: readonly string[]): string {
  const near = nearest(key, candidates);
  if (near !== undefined) return `. Did you mean "${near}"?`;
  if (candidates.length === 0 || candidates.length > MAX_LISTED_KEYS) return "";
  return `. Supported: ${candidates.join(", ")}`;
}
