// What objects and lists are in a schema, inside its wrappers.
import { z } from "zod";

/** The schema inside wrappers such as optional, default, nullable and transform. */
export function containerOf(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  if ("innerType" in def) return containerOf(def.innerType as z.ZodType);
  return schema instanceof z.ZodPipe ? containerOf(schema.in as z.ZodType) : schema;
}

/** Lists of numbers or texts can be long and contain no fields, so they are skipped. */
export const isContainer = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodObject ||
  schema instanceof z.ZodArray ||
  schema instanceof z.ZodRecord ||
  schema instanceof z.ZodUnion;
