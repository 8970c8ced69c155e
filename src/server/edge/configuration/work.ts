// The state of one apply while it writes in its transaction.
import type { ThingKey } from "../../../api/edge/configuration.ts";
import type { NamedLabel } from "../../hosts/labels/scope.ts";
import type { Context } from "../../platform/core/context.ts";
import type { TeamRow } from "../../settings/teams/access.ts";
import type { RequestedChange, Step } from "./changes.ts";
import type { SharedRows } from "./shared-rows.ts";
import { isSame, keyOf, type Texts, type Thing } from "./values.ts";

export interface Work {
  /** The context of the transaction. */
  readonly ctx: Context;
  /** The rows before the apply. */
  readonly shared: SharedRows;
  readonly current: ReadonlyMap<string, Thing>;
  /** The ids of the files that the request refers to, by their digests. */
  readonly files: ReadonlyMap<string, number>;
  /** The secrets of the request, by their refs. */
  readonly texts: Texts;
  /** Teams by name. Teams that this apply creates are added as it proceeds. */
  readonly teams: Map<string, TeamRow>;
  /** Names of the teams that are deleted. */
  readonly leaving: ReadonlySet<string>;
  /** The number of changes that had an effect. */
  readonly applied: { create: number; update: number; delete: number };
  /** What a kind keeps from its `write` for its `remove`, by its name. */
  readonly kept: Map<string, unknown>;
  /** Work to do after the commit. */
  readonly later: ((outside: Context) => void)[];
}

/** The labels that objects of this apply may refer to, with those that it has created. */
export const labelsByName = async ({ store }: Context): Promise<ReadonlyMap<string, NamedLabel>> =>
  new Map((await store.labels.pick(["id", "name"])).map((label) => [label.name, label]));

/** Whether the current value differs from the wanted one. */
export function differs(work: Work, thing: ThingKey, value: unknown): boolean {
  const now = work.current.get(keyOf(thing));
  return now === undefined || !isSame(now.value, value);
}

export function count({ applied }: Work, changes: readonly Pick<RequestedChange, "action">[]): void {
  for (const { action } of changes) applied[action]++;
}

export const creating = <W>(steps: readonly Step<W>[]): Step<W>[] => steps.filter(({ action }) => action === "create");
export const updating = <W>(steps: readonly Step<W>[]): Step<W>[] => steps.filter(({ action }) => action === "update");
