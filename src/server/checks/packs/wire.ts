// Renders packs for the API.

import type { Pack } from "../../../api/checks/packs.ts";
import type { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { labelMembers } from "../../hosts/labels/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { eq, exists, oneOf, or } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { noStats } from "../queries/wire.ts";
import type { packs, packTargets, scheduledQueries } from "./tables.ts";

export type PackRow = RowOf<typeof packs>;
type TargetRow = RowOf<typeof packTargets>;
export type ScheduledRow = RowOf<typeof scheduledQueries>;

interface TargetIds {
  readonly host_ids: number[];
  readonly label_ids: number[];
  readonly team_ids: number[];
}

const ids = (targets: readonly TargetRow[], column: "host_id" | "label_id" | "team_id"): number[] =>
  targets.flatMap((target) => target[column] ?? []).sort((a, b) => a - b);

const targetIds = (targets: readonly TargetRow[]): TargetIds => ({
  host_ids: ids(targets, "host_id"),
  label_ids: ids(targets, "label_id"),
  team_ids: ids(targets, "team_id"),
});

export async function packOnWire({ store }: Pick<Context, "store">, row: PackRow): Promise<Pack> {
  const targets = targetIds(await store.packTargets.list({ where: eq("pack_id", row.id) }));
  const { host_ids, label_ids, team_ids } = targets;
  const [hosts, labels, teams, query_count, total_hosts_count] = await Promise.all([
    host_ids.length > 0 ? store.hosts.pick(["id", "display_name"], { where: oneOf("id", host_ids) }) : [],
    label_ids.length > 0 ? store.labels.pick(["id", "name"], { where: oneOf("id", label_ids) }) : [],
    teamNames(store, team_ids),
    store.scheduledQueries.count(eq("pack_id", row.id)),
    store.hosts.count(
      or(
        oneOf("id", host_ids),
        oneOf("team_id", team_ids),
        label_ids.length > 0 ? exists(labelMembers, "host_id", oneOf("label_id", label_ids)) : or(),
      ),
    ),
  ]);
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    name: row.name,
    description: row.description,
    platform: row.platform,
    disabled: row.disabled,
    type: null,
    query_count,
    total_hosts_count,
    ...targets,
    hosts: hosts.map(({ id, display_name }) => ({ id, display_text: display_name })),
    labels: labels.map(({ id, name }) => ({ id, display_text: name })),
    teams: [...teams].map(([id, name]) => ({ id, display_text: name })),
  };
}

export async function entriesOnWire(
  { store }: Pick<Context, "store">,
  rows: readonly ScheduledRow[],
): Promise<ScheduledEntry[]> {
  const queries = await store.queries.getMany([...new Set(rows.map(({ query_id }) => query_id))]);
  const byId = new Map(queries.map((query) => [query.id, query]));
  return rows.flatMap((row) => {
    const query = byId.get(row.query_id);
    if (!query) return [];
    return {
      id: row.id,
      pack_id: row.pack_id,
      name: row.name,
      query_id: row.query_id,
      query_name: query.name,
      query: query.query,
      description: row.description,
      interval: row.interval,
      snapshot: row.snapshot,
      removed: row.removed,
      platform: row.platform,
      version: row.version,
      shard: row.shard,
      denylist: row.denylist,
      stats: noStats,
      created_at: row.created_at,
      updated_at: row.updated_at,
    };
  });
}
