// What one apply has at hand while it writes, in its transaction.
import type { ThingKey } from "../../api/configuration.ts";
import type { Context } from "../core/context.ts";
import type { TeamRow } from "../teams/access.ts";
import type { Given, Step } from "./changes.ts";
import type { Held } from "./held.ts";
import { isSame, keyOf, type Texts, type Thing } from "./values.ts";

export interface Work {
  /** Of the transaction. */
  readonly ctx: Context;
  /** What was there before. */
  readonly held: Held;
  readonly current: ReadonlyMap<string, Thing>;
  /** Secrets of the request by their refs. */
  readonly texts: Texts;
  /** By name; those that this apply makes come in while it goes on. */
  readonly teams: Map<string, TeamRow>;
  /** Names of teams that go. */
  readonly leaving: ReadonlySet<string>;
  /** Changes that made a difference. */
  readonly applied: { create: number; update: number; delete: number };
  /** What is done after the commit. */
  readonly later: ((outside: Context) => void)[];
}

/** Whether the thing is another than it is to be. */
export function differs(work: Work, thing: ThingKey, value: unknown): boolean {
  const now = work.current.get(keyOf(thing));
  return now === undefined || !isSame(now.value, value);
}

export function count({ applied }: Work, changes: readonly Pick<Given, "action">[]): void {
  for (const { action } of changes) applied[action]++;
}

export const creating = <W>(steps: readonly Step<W>[]): Step<W>[] => steps.filter(({ action }) => action === "create");
export const updating = <W>(steps: readonly Step<W>[]): Step<W>[] => steps.filter(({ action }) => action === "update");
