// The hosts that activities concern, and their teams.
import { isRecord } from "../../../text/record.ts";
import { parts } from "../core/concurrency/parts.ts";
import type { ServerTx } from "../core/tables.ts";
import { oneOf } from "../store/query.ts";
import type { ActivityRow } from "./chain.ts";
import { hostIn, NO_TEAM } from "./search.ts";

export interface LinkedHosts {
  readonly ids: readonly number[];
  /** An entry about several hosts, even if it happens to be one. */
  readonly isList: boolean;
}

/** The hosts of an entry: those that it is recorded with, or that its details name. */
export function linkedHosts(
  entry: Pick<ActivityRow, "details" | "host_id">,
  recordedWith: readonly number[] | undefined,
): LinkedHosts {
  const listed = recordedWith ?? (isRecord(entry.details) ? entry.details.host_ids : undefined);
  if (Array.isArray(listed)) return { ids: listed.filter((id) => typeof id === "number"), isList: true };
  const id = entry.host_id ?? hostIn(entry);
  return { ids: id === null ? [] : [id], isList: false };
}

/** The teams of each host; 0 stands for no team. */
export type HostTeams = ReadonlyMap<number, readonly number[]>;

/** The teams that the hosts have now, and those that they have just left. */
export async function teamsOfHosts(
  store: Pick<ServerTx, "hosts">,
  hostIds: Iterable<number>,
  formerTeams: ReadonlyMap<number, number | null> = new Map(),
): Promise<HostTeams> {
  const teams = new Map<number, number[]>();
  for (const [id, teamId] of formerTeams) teams.set(id, [teamId ?? NO_TEAM]);
  for await (const batch of parts([...new Set(hostIds)]))
    for (const { id, team_id } of await store.hosts.pick(["id", "team_id"], { where: oneOf("id", batch) }))
      teams.set(id, [...new Set([...(teams.get(id) ?? []), team_id ?? NO_TEAM])]);
  return teams;
}
