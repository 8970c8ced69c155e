import type { Column } from "./table.ts";
import { age } from "./text.ts";

/** What the server returns as the time of what has never happened. */
const isNever = (time: string): boolean => time.startsWith("2000-01-01T00:00:00");

/** Times in a table: relative ones on a terminal, otherwise as they are. `missing` is shown for null. */
export const timeColumn = (key: string, header: string, relative: boolean, now: Date, missing = ""): Column => ({
  key,
  header,
  text: (value) => {
    if (typeof value !== "string") return missing;
    if (isNever(value)) return "never";
    return relative ? age(value, now) : value;
  },
});
