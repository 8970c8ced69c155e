// Parses values with the same error messages as request bodies.
import type { z } from "zod";
import { invalidFields } from "../../platform/core/errors.ts";
import { bodyErrors } from "../../platform/core/http/route.ts";

export function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  throw invalidFields(bodyErrors(result.error));
}

/** A comma-separated list in the order of the known platforms, because its order has no meaning. */
export function platformsOf(platforms: readonly string[], list: string): string {
  const words = list.split(",");
  return platforms.filter((platform) => words.includes(platform)).join(",");
}

export const namesOf = (ids: readonly number[] | undefined, names: ReadonlyMap<number, string>): string[] =>
  (ids ?? []).flatMap((id) => names.get(id) ?? []);
