// Which hosts have their past recorded, and when what was recorded is deleted because it was turned off.
import type { HistoryDataset } from "../../../api/settings/history-settings.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { ALL_HOSTS } from "../count-changes/tables.ts";
import { HostBits } from "./host-set.ts";

/** Host ids that are read at once. */
const READ_SIZE = 5_000;

/** Deletes what was recorded of these hosts; null: of all. */
export type ClearHistory = (hosts: HostBits | null, signal: AbortSignal) => Promise<void>;

interface Switches {
  readonly isOn: boolean;
  /** Teams that have turned it off. */
  readonly offTeams: readonly number[];
}

type Deps = Pick<Services, "config"> & { readonly store: ServerTx };

export async function readSwitches({ store, config }: Deps, dataset: HistoryDataset): Promise<Switches> {
  const [{ features }, teams] = await Promise.all([config.current(), store.teams.pick(["id", "settings"])]);
  return {
    isOn: features.historical_data[dataset],
    offTeams: teams
      .filter(({ settings }) => settings.features.historical_data?.[dataset] === false)
      .map(({ id }) => id),
  };
}

/** The hosts of teams that have not turned it off. */
export const recordedHosts = ({ offTeams }: Switches): Predicate =>
  offTeams.length === 0 ? everything : or(isNull("team_id"), not(oneOf("team_id", offTeams)));

export async function hostBits(store: ServerTx, where: Predicate): Promise<HostBits> {
  const bits = new HostBits();
  for await (const rows of store.hosts.pages({ where }, READ_SIZE, ["id"])) for (const { id } of rows) bits.add(id);
  return bits;
}

/**
 * Deletes what was recorded where the dataset has been turned off since the last time. Whoever records calls it first,
 * so that nothing is recorded between a deletion and the note that it was done.
 */
export async function clearWhereOff(
  { store, clock }: Pick<Services, "store" | "clock">,
  dataset: HistoryDataset,
  { isOn, offTeams }: Switches,
  clear: ClearHistory,
  signal: AbortSignal,
): Promise<void> {
  const off = new Set(isOn ? offTeams : [...offTeams, ALL_HOSTS]);
  const cleared = await store.historyCleared.list({ where: eq("dataset", dataset) });
  const ended = cleared.filter(({ scope }) => !off.has(scope)).map(({ id }) => id);
  if (ended.length > 0) await store.historyCleared.delete(oneOf("id", ended));
  for (const { scope } of cleared) off.delete(scope);
  if (off.size === 0) return;
  const hosts = off.has(ALL_HOSTS) ? null : await hostBits(store, oneOf("team_id", [...off]));
  if (hosts === null || hosts.size > 0) await clear(hosts, signal);
  if (signal.aborted) return;
  const cleared_at = clock.iso();
  await store.historyCleared.upsert(
    [...off].map((scope) => ({ dataset, scope, cleared_at })),
    { on: ["dataset", "scope"], returning: [] },
  );
}

/** When the metric was last recorded, or null. */
export const sampledAt = async (store: ServerTx, metric: string): Promise<number | null> => {
  const row = await store.historySamples.first({ where: eq("metric", metric) });
  return row === null ? null : Date.parse(row.sampled_at);
};

export async function noteSample(store: ServerTx, metric: string, sampled_at: string): Promise<void> {
  await store.historySamples.upsert([{ metric, sampled_at }], { on: ["metric"], returning: [] });
}
