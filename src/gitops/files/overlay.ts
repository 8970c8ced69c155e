// Builds whole values from the partial values of files.
import { z } from "zod";
import { isRecord } from "../../text/record.ts";
import { spellingsOf, unwrapped } from "../schema/loosen.ts";
import type { CheckOptions } from "./check.ts";
import { dotted } from "./check.ts";
import { placeOf, type Tree } from "./tree.ts";

export type Value = Readonly<Record<string, unknown>>;

/**
 * Merges the given value into `base`, which is complete: objects with named fields are merged; texts, lists and free
 * maps are
 * replaced. Fields that `base` does not have are not stored by the server.
 */
export function overlay(schema: z.ZodType, base: unknown, change: unknown): unknown {
  if (change === undefined || change === null) return base;
  const inner = unwrapped(schema);
  if (!(inner instanceof z.ZodObject) || !isRecord(change) || !isRecord(base)) return change;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const field = inner.shape[key] as z.ZodType | undefined;
    if (field && Object.hasOwn(base, key)) result[key] = overlay(field, base[key], value);
  }
  return result;
}

/** The value under the server's spellings. Both spellings of one key are an error, the older one alone a warning. */
export function respelled(schema: z.ZodType, value: unknown, tree: Tree, name: string, options: CheckOptions): unknown {
  return walk(schema, value, []);

  function walk(at: z.ZodType, part: unknown, path: readonly string[]): unknown {
    const inner = unwrapped(at);
    if (!(inner instanceof z.ZodObject) || !isRecord(part)) return part;
    const result: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(part))
      result[key] = walk(inner.shape[key] as z.ZodType, field, [...path, key]);
    for (const { key, older, newer } of spellingsOf(inner)) {
      if (isGiven(result[older]))
        reportOlder(options, tree, name, { from: [...path, older], to: [...path, newer] }, isGiven(result[newer]));
      const spelled = result[newer] ?? result[older];
      delete result[older];
      delete result[newer];
      if (spelled !== undefined) result[key] = spelled;
    }
    return result;
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

export function reportOlder(
  { problems }: CheckOptions,
  tree: Tree,
  name: string,
  { from, to }: { from: readonly string[]; to: readonly string[] },
  both: boolean,
): void {
  const [older, newer] = [dotted(name, from), dotted(name, to)];
  if (both) problems.error(placeOf(tree, from), `${older} and ${newer} are the same setting: give only one of them`);
  else problems.warn(placeOf(tree, from), `${older} is an older name of ${newer}`);
}
