// Keys of features that this server does not have yet, or that belong in another file: they must be empty.
import { z } from "zod";

/** Reports a feature that is not available yet if a value is given. */
export const notBuilt = (what: string) =>
  emptyOnly(`this server does not support ${what} yet`, `not supported yet: ${what}; must be empty`);

/** Reports a key that belongs in another file. */
export const notHere = (why: string) => emptyOnly(why, why);

const emptyOnly = (error: string, description: string) =>
  z.json().optional().refine(isEmpty, { error }).meta({ description, emptyOnly: true });

export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.values(value).every(isEmpty);
  return [undefined, null, false, "", 0].includes(value as undefined);
}
