/**
 * A bound on what a host, an agent, a device or a stranger may send or cause. Declared where the value is read;
 * `limits.ts` beside the features lists all of them, and docs/limits.md is generated from that list.
 */
export interface Limit {
  /** What it bounds, for the page of limits: "push token of an Apple device". */
  readonly what: string;
  readonly max: number;
  readonly unit: "bytes" | "characters" | "entries" | "rows" | "calls" | "milliseconds";
  /** What the bound applies to: one value or list, one message, or everything of one host, address, team or server. */
  readonly per: "value" | "message" | "host" | "address" | "user" | "team" | "server";
  /** The time in which `max` is reached at most, in milliseconds. Null if it applies at any time. */
  readonly period: number | null;
  /** What happens beyond it: "The message is refused with 413." */
  readonly beyond: string;
}

/** Declares a limit. `per` is one value and `period` null unless the declaration names others. */
export const limit = (declaration: Omit<Limit, "per" | "period"> & Partial<Pick<Limit, "per" | "period">>): Limit => ({
  per: "value",
  period: null,
  ...declaration,
});
