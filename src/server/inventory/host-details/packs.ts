// The packs of one host: the packs that target it, and the query statistics that its agent reports.
import type { HostPack, HostPackStats } from "../../../api/hosts/host.ts";
import { namesAsSent } from "../../checks/queries/names.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { PackStats } from "../../hosts/hosts/details.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, oneOf, or } from "../../platform/store/query.ts";

/**
 * Packs of a host. Only this host and its own team are returned as targets: the caller may not be allowed to see
 * others.
 */
export async function packsOfHost(store: ServerTx, host: HostRow, labelIds: readonly number[]): Promise<HostPack[]> {
  const reaching = await store.packTargets.pick(["pack_id"], {
    where: or(
      eq("host_id", host.id),
      oneOf("label_id", labelIds),
      ...(host.team_id === null ? [] : [eq("team_id", host.team_id)]),
    ),
  });
  if (reaching.length === 0) return [];
  const ids = [...new Set(reaching.map(({ pack_id }) => pack_id))];
  const [packs, targets] = await Promise.all([
    store.packs.list({ where: oneOf("id", ids) }),
    store.packTargets.list({
      where: and(
        oneOf("pack_id", ids),
        or(eq("host_id", host.id), isNull("host_id")),
        or(isNull("team_id"), ...(host.team_id === null ? [] : [eq("team_id", host.team_id)])),
      ),
    }),
  ]);
  const labelRows = await store.labels.pick(["id", "name"], {
    where: oneOf(
      "id",
      targets.flatMap(({ label_id }) => label_id ?? []),
    ),
  });
  const teamRows =
    host.team_id === null ? [] : await store.teams.pick(["id", "name"], { where: eq("id", host.team_id) });
  const targetsOf = groupBy(targets, ({ pack_id }) => pack_id);
  return packs.map(({ revision: _revision, ...pack }) => {
    const packTargets = targetsOf.get(pack.id) ?? [];
    const labelsOfPack = labelRows.filter(({ id }) => packTargets.some(({ label_id }) => label_id === id));
    const teamsOfPack = teamRows.filter(({ id }) => packTargets.some(({ team_id }) => team_id === id));
    const hosts = packTargets.some(({ host_id }) => host_id === host.id)
      ? [{ id: host.id, name: host.display_name }]
      : [];
    return {
      id: pack.id,
      name: pack.name,
      description: pack.description,
      platform: pack.platform,
      disabled: pack.disabled,
      type: null,
      labels: labelsOfPack.map(({ id, name }) => ({ id, name })),
      label_ids: labelsOfPack.map(({ id }) => id),
      hosts,
      host_ids: hosts.map(({ id }) => id),
      teams: teamsOfPack.map(({ id, name }) => ({ id, name })),
      team_ids: teamsOfPack.map(({ id }) => id),
      created_at: pack.created_at,
      updated_at: pack.updated_at,
    };
  });
}

/** Queries by their group and the name under which agents know them. */
const byNameAsSent = <T extends { readonly id: number; readonly name: string }>(
  groups: ReadonlyMap<number | null, readonly T[]>,
): Map<string, T> => {
  const queriesByName = new Map<string, T>();
  for (const [group, queries] of groups) {
    const byId = new Map(queries.map((query) => [query.id, query]));
    for (const [id, name] of namesAsSent(queries)) queriesByName.set(JSON.stringify([group, name]), byId.get(id)!);
  }
  return queriesByName;
};

const teamOfType = (type: string): number | null => Number(/^team-(\d{1,15})$/.exec(type)?.[1] ?? Number.NaN) || null;

const QUERY_FIELDS = ["id", "name", "team_id", "description", "discard_data", "automations_enabled"] as const;

/** The agent reports names. Details of the query that has that name now are added, if there is one. */
export async function packStatsOfHost(
  store: ServerTx,
  hostId: number,
  kept: readonly unknown[],
): Promise<HostPackStats[]> {
  const agentPacks = kept as readonly PackStats[];
  if (agentPacks.length === 0) return [];
  const legacy = agentPacks.filter(({ type }) => type === "").map(({ pack_name }) => pack_name);
  const [packs, saved, fetched] = await Promise.all([
    store.packs.pick(["id", "name"], { where: oneOf("name", legacy) }),
    store.queries.pick(QUERY_FIELDS),
    store.queryResults.pick(["query_id", "last_fetched"], { where: eq("host_id", hostId) }),
  ]);
  const scheduled = await store.scheduledQueries.pick(["id", "name", "pack_id", "query_id", "description"], {
    where: oneOf(
      "pack_id",
      packs.map(({ id }) => id),
    ),
  });
  const packIds = new Map(packs.map(({ id, name }) => [name, id]));
  const queries = new Map(saved.map((query) => [query.id, query]));
  const fetchedAt = new Map(fetched.map(({ query_id, last_fetched }) => [query_id, last_fetched]));
  const ofPacks = byNameAsSent(groupBy(scheduled, ({ pack_id }) => pack_id));
  const ofTeams = byNameAsSent(groupBy(saved, ({ team_id }) => team_id));
  return agentPacks.map(({ pack_name, type, query_stats }) => {
    const packId = type === "" ? (packIds.get(pack_name) ?? null) : null;
    const now = (name: string) => {
      const entry = type === "" ? ofPacks.get(JSON.stringify([packId, name])) : undefined;
      const query = entry ? queries.get(entry.query_id) : ofTeams.get(JSON.stringify([teamOfType(type), name]));
      const namedQuery = type === "" && !entry ? undefined : query;
      return {
        scheduled_query_id: (entry ?? namedQuery)?.id ?? null,
        scheduled_query_name: (entry ?? namedQuery)?.name ?? name,
        query_name: namedQuery?.name ?? name,
        description: (entry ?? namedQuery)?.description ?? "",
        discard_data: namedQuery?.discard_data ?? false,
        automations_enabled: namedQuery?.automations_enabled ?? false,
        // Results of pack queries are not stored.
        last_fetched: (entry || !namedQuery ? null : fetchedAt.get(namedQuery.id)) ?? null,
      };
    };
    return {
      pack_id: packId,
      pack_name,
      type,
      query_stats: query_stats.map((stats) => ({ ...stats, ...now(stats.scheduled_query_name), pack_id: packId })),
    };
  });
}
