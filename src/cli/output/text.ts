// Formats values for people.
import { plural } from "../../text/plural.ts";
import { usage } from "../errors.ts";

/**
 * The value as plain text. The members of a list are separated by commas; of lists in a list, each value is written once,
 * and members without a value are left out. Objects are written as JSON.
 */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    const isNested = value.some(Array.isArray);
    const members: unknown[] = value.flat(Number.POSITIVE_INFINITY).filter((member) => (member ?? null) !== null);
    if (members.every((member) => typeof member !== "object"))
      return (isNested ? [...new Set(members)] : members).map(cell).join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A size of memory in bytes, for people. Hosts report 0 if they do not know it. */
export const memoryText = (bytes: unknown): string =>
  typeof bytes !== "number" ? "" : bytes === 0 ? "unknown" : `${(bytes / 2 ** 30).toFixed(1)} GiB`;

const steps: [number, string][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [30, "day"],
  [12, "month"],
  [Number.POSITIVE_INFINITY, "year"],
];

/** "3 minutes ago", or of a later time "in 3 minutes"; a time before 2001 means never. */
export function ago(time: string, now: Date): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  if (at < Date.UTC(2001, 0, 1)) return "never";
  const seconds = Math.round((now.getTime() - at) / 1000);
  // The clocks of two computers differ by some seconds.
  if (Math.abs(seconds) < 5) return "just now";
  let amount = Math.abs(seconds);
  for (const [size, word] of steps) {
    if (amount < size) return seconds > 0 ? `${plural(amount, word)} ago` : `in ${plural(amount, word)}`;
    amount = Math.round(amount / size);
  }
  return time;
}

const shortUnits: Readonly<Record<string, string>> = { second: "s", minute: "m", month: "mo" };

/** A time in columns of lists: "3m", or for a later time "in 3m". */
export const age = (time: string, now: Date): string =>
  ago(time, now)
    .replace("just now", "now")
    .replace(
      /(\d+) ([a-z]+?)s?( ago)?$/,
      (_, amount: string, unit: string) => `${amount}${shortUnits[unit] ?? unit[0]}`,
    );

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a duration; a number without a unit is in seconds. NaN if it is not one. */
function millisecondsOf(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  return amount === undefined ? Number.NaN : Number(amount) * units[(unit ?? "s") as keyof typeof units];
}

/** Whole seconds of a duration: `600`, `10m`; null if it is not one. */
export function wholeSeconds(text: string): number | null {
  const seconds = Math.round(millisecondsOf(text)) / 1000;
  return Number.isSafeInteger(seconds) ? seconds : null;
}

/** `500ms`, `25s`, `10m`, `24h`, `2d`; a number without a unit is in seconds. */
export function durationMs(text: string, flag: string): number {
  const ms = millisecondsOf(text);
  if (Number.isNaN(ms)) throw usage(`${flag}: ${text} is not a duration`, "Examples: 500ms, 25s, 10m, 24h.");
  return ms;
}
