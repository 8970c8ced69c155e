// What changes of hosts mean for the counts of software: recorded in the transaction that changes the hosts, and added
// to the counts shortly afterwards (software/software/counts.ts).

import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { teamsOfHosts } from "../hosts/reads.ts";
import { NO_TEAM } from "./tables.ts";
import { moveExposure } from "./vulnerabilities.ts";

/** The versions and titles on one host. */
export type ListedSoftware = Pick<RowOf<Tables["hostSoftware"]>, "software_ids" | "title_ids">;

/** By id of a version or title. */
export type Sums = Map<number, number>;
export interface TeamSums {
  readonly versions: Sums;
  readonly titles: Sums;
}

/** Differences of the counts, by team. */
export class CountChanges {
  readonly #teams = new Map<number, TeamSums>();

  /** Records that a host of the team had `before` and has `after`. */
  note(teamId: number | null, before: ListedSoftware | undefined, after: ListedSoftware | undefined): void {
    const { versions, titles } = this.of(teamId ?? NO_TEAM);
    addAll(versions, before?.software_ids, -1);
    addAll(versions, after?.software_ids, 1);
    addAll(titles, before?.title_ids, -1);
    addAll(titles, after?.title_ids, 1);
  }

  of(team: number): TeamSums {
    const existing = this.#teams.get(team);
    if (existing) return existing;
    const sums = { versions: new Map<number, number>(), titles: new Map<number, number>() };
    this.#teams.set(team, sums);
    return sums;
  }

  get teams(): ReadonlyMap<number, TeamSums> {
    return this.#teams;
  }
}

function addAll(sums: Sums, ids: readonly number[] = [], difference: number): void {
  for (const id of ids) sums.set(id, (sums.get(id) ?? 0) + difference);
}

/** Pairs of id and difference, without those that changed nothing. */
function flat(sums: Sums): number[] {
  const pairs: number[] = [];
  for (const [id, difference] of sums) if (difference !== 0) pairs.push(id, difference);
  return pairs;
}

export function addFlat(sums: Sums, pairs: readonly number[]): void {
  for (let i = 0; i + 1 < pairs.length; i += 2) sums.set(pairs[i]!, (sums.get(pairs[i]!) ?? 0) + pairs[i + 1]!);
}

/** Must run in the transaction that changes the hosts. */
export async function recordCountChanges(tx: ServerTx, changes: CountChanges): Promise<void> {
  const rows = [...changes.teams]
    .map(([team, { versions, titles }]) => ({ team, versions: flat(versions), titles: flat(titles) }))
    .filter(({ versions, titles }) => versions.length > 0 || titles.length > 0);
  if (rows.length === 0) return;
  await tx.softwareCountChanges.insertMany(rows, { returning: [] });
  await tx.notify(channels.softwareCounts, "");
}

/** The differences are in the counts. */
export const removeSoftwareChanges = (tx: ServerTx, rows: readonly { readonly id: number }[]): Promise<number> =>
  tx.softwareCountChanges.delete(
    oneOf(
      "id",
      rows.map(({ id }) => id),
    ),
  );

/** The lists of hosts, which must be locked by the transaction. */
export async function listsOf(
  tx: ServerTx,
  hostIds: readonly number[],
): Promise<Map<number, ListedSoftware & { id: number }>> {
  return byId(await tx.hostSoftware.pick(["id", "software_ids", "title_ids"], { where: oneOf("id", hostIds) }));
}

/**
 * Counts the software and vulnerabilities of hosts for another team, or no more at all. Call it in the transaction that moves or deletes them, before that,
 * and after their rows were locked.
 */
export async function moveSoftwareCounts(
  tx: ServerTx,
  hostIds: readonly number[],
  to: number | null | "deleted",
): Promise<void> {
  const changes = new CountChanges();
  for await (const ids of parts(hostIds)) {
    const [lists, teams] = [await listsOf(tx, ids), await teamsOfHosts(tx, ids)];
    for (const [id, teamId] of teams) {
      if (teamId === to) continue;
      changes.note(teamId, lists.get(id), undefined);
      if (to !== "deleted") changes.note(to, undefined, lists.get(id));
    }
    await moveExposure(tx, ids, to);
  }
  await recordCountChanges(tx, changes);
}
