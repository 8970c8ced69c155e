// Keys of what this server does not have yet, or not in this file: they may stand there empty.
import { z } from "zod";

/** What is not here yet, told where something is given. */
export const notBuilt = (what: string) => emptyOnly(`this server has no ${what} yet`, `no ${what} yet: must be empty`);

/** What stands in another file. */
export const notHere = (why: string) => emptyOnly(why, why);

const emptyOnly = (error: string, description: string) =>
  z.json().optional().refine(isEmpty, { error }).meta({ description, emptyOnly: true });

export function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.values(value).every(isEmpty);
  return [undefined, null, false, "", 0].includes(value as undefined);
}
