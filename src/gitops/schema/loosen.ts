// Derives the schema of a setting in a file from the server's schema: fields may be left out, unknown ones are
// refused.
import { z } from "zod";
import { notBuilt } from "./not-built.ts";

export interface Changes {
  /** Fields that only the server sets, or that have another place in files. */
  readonly without?: readonly string[];
  /** Fields of features that this server does not have yet, with the feature's name. */
  readonly notBuilt?: Readonly<Record<string, string>>;
  /** Replaced schemas, and additional fields. */
  readonly replaced?: Readonly<Record<string, z.ZodType>>;
  /** Other spellings of fields, newer or older than the server's: allowed, but not both at once. */
  readonly newer?: Readonly<Record<string, string>>;
  readonly older?: Readonly<Record<string, string>>;
}

export interface Spelling {
  /** The server's spelling: one of the two. */
  readonly key: string;
  readonly older: string;
  readonly newer: string;
}

/** Objects accept any subset of their fields; entries of lists are complete. */
export function inFile(
  schema: z.ZodType,
  { without = [], notBuilt: missing = {}, replaced = {}, newer = {}, older = {} }: Changes = {},
): z.ZodObject {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) throw new Error("only objects can be sections");
  const shape: Record<string, z.ZodType> = {
    ...Object.fromEntries(
      Object.entries(inner.shape as Record<string, z.ZodType>)
        .filter(([key]) => !without.includes(key))
        .map(([key, field]) => [key, loosened(field).nullish()]),
    ),
    ...replaced,
    ...Object.fromEntries(Object.entries(missing).map(([key, what]) => [key, notBuilt(what)])),
  };
  const spellings = [
    ...Object.entries(newer).map(([key, name]): Spelling => ({ key, older: key, newer: name })),
    ...Object.entries(older).map(([key, name]): Spelling => ({ key, older: name, newer: key })),
  ];
  for (const { key, older: before, newer: after } of spellings) {
    if (!shape[key]) throw new Error(`there is no ${key} to be spelled otherwise`);
    shape[before] = shape[after] = shape[key];
  }
  return spelled(shape, spellings);
}

const spellings = new WeakMap<z.ZodType, readonly Spelling[]>();

/** An object of exactly these fields, some of which have two spellings. */
export function spelled(shape: Readonly<Record<string, z.ZodType>>, pairs: readonly Spelling[]): z.ZodObject {
  const schema = z.strictObject(shape);
  spellings.set(schema, pairs);
  return schema;
}
export const spellingsOf = (schema: z.ZodType): readonly Spelling[] => spellings.get(schema) ?? [];

function loosened(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return inFile(inner);
  if (inner instanceof z.ZodArray) return z.array(entry(inner.element as z.ZodType)).max(maxOf(inner));
  return inner;
}

/** An entry of a list: fields without a default are required. */
function entry(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject ? z.strictObject(inner.shape) : inner;
}

const maxOf = (list: z.ZodArray): number => {
  for (const rule of list.def.checks ?? []) {
    const { check, maximum } = rule._zod.def as { check: string; maximum?: number };
    if (check === "max_length" && maximum !== undefined) return maximum;
  }
  throw new Error("a list of settings must be bounded");
};

/** The schema inside of optional, nullable and default wrappers. */
export function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}
