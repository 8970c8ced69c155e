// Records the status of hosts' settings by kind, and with it the worst status of each host.

import { parts } from "../../platform/core/concurrency/parts.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { teamsOfHosts } from "../hosts/reads.ts";
import { NO_TEAM, type SettingStatus } from "./tables.ts";

/** Worst first. What is still to be queued is pending. */
const worstFirst: readonly SettingStatus[] = ["failed", "pending", "verifying", "verified"];

export type SettingKind = "profiles" | "disk_encryption" | "recovery_lock" | "host_name";

const kinds: readonly SettingKind[] = ["profiles", "disk_encryption", "recovery_lock", "host_name"];

type Store = Pick<ServerTx, "hostSettings" | "hosts">;

export interface HostSetting {
  readonly id: number;
  /** Null: the host has no setting of this kind. */
  readonly status: SettingStatus | null;
}

export function worstOf(statuses: Iterable<SettingStatus | null>): SettingStatus | null {
  let worst: SettingStatus | null = null;
  for (const status of statuses)
    if (status !== null && (worst === null || worstFirst.indexOf(status) < worstFirst.indexOf(worst))) worst = status;
  return worst;
}

/**
 * Sets the hosts' statuses of one kind in the caller's transaction. Each host at most once. The rows are written before
 * they are read, so that transactions that change other settings of the same hosts wait.
 */
export async function recordSettings(store: Store, kind: SettingKind, hosts: readonly HostSetting[]): Promise<void> {
  const sorted = [...hosts].sort((a, b) => a.id - b.id);
  for await (const batch of parts(sorted)) {
    await store.hostSettings.upsert(
      batch.map(({ id, status }) => ({ id, [kind]: status })),
      { on: ["id"], set: [kind], returning: [] },
    );
    await settleHosts(store, kind, batch);
  }
}

/**
 * Changes the profiles of these hosts by `work`, and then sets their status. The rows are written first, so that others
 * that change profiles of the same hosts wait. `at`: the time of the change.
 */
export async function changingProfiles(
  store: Store,
  at: string,
  hostIds: readonly number[],
  { work, statusesOf }: { work(): Promise<void>; statusesOf(ids: readonly number[]): Promise<readonly HostSetting[]> },
): Promise<void> {
  const ids = [...new Set(hostIds)].sort((a, b) => a - b);
  if (ids.length === 0) return;
  for await (const batch of parts(ids))
    await store.hostSettings.upsert(
      batch.map((id) => ({ id, profiles_changed_at: at })),
      { on: ["id"], set: ["profiles_changed_at"], returning: [] },
    );
  await work();
  for await (const batch of parts(ids)) await settleHosts(store, "profiles", await statusesOf(batch));
}

/**
 * Records the hosts' new team (null: none), in the transaction that moves them. A host gets a row if it has none, so
 * that a transaction that is about to insert it waits for this one, and then finds the new team.
 */
export async function moveSettings(store: Store, hostIds: readonly number[], teamId: number | null): Promise<void> {
  const ids = [...hostIds].sort((a, b) => a - b);
  for await (const batch of parts(ids))
    await store.hostSettings.upsert(
      batch.map((id) => ({ id, team: teamId ?? NO_TEAM })),
      { on: ["id"], set: ["team"], returning: [] },
    );
}

/** Sets the statuses in rows that this transaction has written before. */
async function settleHosts(store: Store, kind: SettingKind, hosts: readonly HostSetting[]): Promise<void> {
  const statuses = new Map(hosts.map(({ id, status }) => [id, status]));
  const where = oneOf("id", [...statuses.keys()]);
  const rows = await store.hostSettings.pick(["id", "team", "status", ...kinds], { where });
  const teams = await teamsOf(
    store,
    rows.filter(({ team }) => team === null).map(({ id }) => id),
  );
  const changed = rows.flatMap((row) => {
    const reported = statuses.get(row.id) ?? null;
    const status = worstOf(kinds.map((each) => (each === kind ? reported : row[each])));
    const team = row.team ?? teams.get(row.id) ?? null;
    const isSame = reported === row[kind] && status === row.status && team === row.team;
    return isSame ? [] : [{ id: row.id, [kind]: reported, status, team }];
  });
  if (changed.length > 0) await store.hostSettings.updateEach(changed);
}

/** Read after the hosts' rows here were written: a transaction that moves a host writes its row here too. */
async function teamsOf(store: Store, hostIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  return new Map([...(await teamsOfHosts(store, hostIds))].map(([id, teamId]) => [id, teamId ?? NO_TEAM]));
}
