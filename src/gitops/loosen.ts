// From the schema of a setting as the server has it to that of the same setting in a file: fields may be left out, and nothing else may stand there.
import { z } from "zod";
import { notBuilt } from "./items.ts";

/** Objects take any of their fields and no other; entries of lists are given whole. `path` leads to the fields that are replaced. */
export interface Changes {
  /** Fields that only the server says. */
  readonly returned?: readonly string[];
  /** Fields of what this server does not have yet, by what that is. */
  readonly notBuilt?: Readonly<Record<string, string>>;
  /** More fields, and other schemas. */
  readonly extend?: Readonly<Record<string, z.ZodType>>;
}

export function inFile(
  schema: z.ZodType,
  { returned = [], notBuilt: missing = {}, extend = {} }: Changes = {},
): z.ZodObject {
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject)) throw new Error("only objects can be sections");
  const shape = Object.fromEntries(
    Object.entries(inner.shape as Record<string, z.ZodType>)
      .filter(([key]) => !returned.includes(key))
      .map(([key, field]) => [key, loosened(field).nullish()]),
  );
  const absent = Object.fromEntries(Object.entries(missing).map(([key, what]) => [key, notBuilt(what)]));
  return z.strictObject({ ...shape, ...absent, ...extend });
}

function loosened(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return inFile(inner);
  if (inner instanceof z.ZodArray) return z.array(entry(inner.element as z.ZodType));
  return inner;
}

/** An entry of a list: what has no default has to be there. */
function entry(schema: z.ZodType): z.ZodType {
  const inner = unwrapped(schema);
  return inner instanceof z.ZodObject ? z.strictObject(inner.shape) : inner;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}
