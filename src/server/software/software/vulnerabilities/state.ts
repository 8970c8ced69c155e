// The row that says how far hosts have been counted.
import { channels } from "../../../platform/core/channels.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { eq, everything } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { vulnerabilityCountState } from "./tables.ts";

/** Lock for transactions that change counts. */
export const VULNERABILITY_COUNTS_LOCK = "vulnerability_counts";

export type State = RowOf<typeof vulnerabilityCountState>;

export const stateOf = (tx: ServerTx): Promise<State | null> => tx.vulnerabilityCountState.first({});

const initial = { counted_at: null, recounted_at: null, recount_until: null, generation: 0, is_due: true };

export async function changeState(
  tx: ServerTx,
  before: State | null,
  set: Partial<Omit<State, "id" | "revision">>,
): Promise<void> {
  if (before) await tx.vulnerabilityCountState.update({ where: eq("id", before.id), set });
  else await tx.vulnerabilityCountState.insert({ ...initial, ...set });
}

/** Has all hosts counted soon, because versions have other vulnerabilities now. */
export async function requestRecount(tx: ServerTx): Promise<void> {
  // Written even if it is true already: the row is then locked, so that a server that counts hosts now waits for this
  // transaction. Without a row nothing was counted yet, and the first count comes anyway.
  await tx.vulnerabilityCountState.update({ where: everything, set: { is_due: true } });
  await tx.notify(channels.vulnerabilityCounts, "");
}

/** When the counts were last right. Null before the first time. */
export async function countedAt(tx: ServerTx): Promise<string | null> {
  return (await stateOf(tx))?.counted_at ?? null;
}
