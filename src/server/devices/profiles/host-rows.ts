// Changes of hosts' profiles. Each change also updates the status of the host.

import { FILEVAULT_IDENTIFIER, settleMacs } from "../../hosts/disk-encryption/macs.ts";
import { changingProfiles, type HostSetting, worstOf } from "../../hosts/os-settings/statuses.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { HostProfileRow } from "./platform.ts";
import { nextState, type ProfileEvent } from "./state.ts";

export type ProfileDeps = Pick<Context, "store" | "clock">;

/** Changes profiles of these hosts in the caller's transaction, and then their status. */
export const changingHosts = ({ store, clock }: ProfileDeps, hostIds: readonly number[], work: () => Promise<void>) =>
  changingProfiles(store, clock.iso(), hostIds, { work, statusesOf: (ids) => statusesOf(store, ids) });

/** The worst status of each host's profiles. */
async function statusesOf(store: ServerTx, hostIds: readonly number[]): Promise<HostSetting[]> {
  const rows = await store.hostProfiles.pick(["host_id", "status"], { where: oneOf("host_id", hostIds) });
  const profiles = groupBy(rows, ({ host_id }) => host_id);
  return hostIds.map((id) => ({
    id,
    status: worstOf((profiles.get(id) ?? []).map(({ status }) => status ?? "pending")),
  }));
}

/** Applies an event to each of the rows, in the caller's transaction. Returns how many have changed. */
export async function applyEvents(
  backing: ProfileDeps,
  events: readonly { readonly row: HostProfileRow; readonly event: ProfileEvent }[],
): Promise<number> {
  const { store } = backing;
  const gone: number[] = [];
  const hosts: number[] = [];
  const changes: Parameters<ServerTx["hostProfiles"]["updateEach"]>[0][number][] = [];
  for (const { row, event } of events) {
    const next = nextState(row, event);
    if (next === row) continue;
    hosts.push(row.host_id);
    if (next === "gone") {
      gone.push(row.id);
      continue;
    }
    const { operation_type, status, detail, retries, command_uuid, installed_after } = next;
    changes.push({ id: row.id, operation_type, status, detail, retries, command_uuid, installed_after });
  }
  const encrypting = events.flatMap(({ row }) => (row.identifier === FILEVAULT_IDENTIFIER ? [row.host_id] : []));
  await changingHosts(backing, hosts, async () => {
    for await (const batch of parts(gone)) await store.hostProfiles.delete(oneOf("id", batch));
    for await (const batch of parts(changes)) await store.hostProfiles.updateEach(batch);
    await settleMacs(store, encrypting);
  });
  return hosts.length;
}

/** The host's answer to a command that installs or removes a profile. Answers to earlier commands change nothing. */
export async function profileAnswered(
  backing: ProfileDeps,
  hostId: number,
  commandUuid: string,
  event: Extract<ProfileEvent, { type: "acknowledged" | "error" | "unsendable" }>,
): Promise<void> {
  const where = and(eq("host_id", hostId), eq("command_uuid", commandUuid));
  const rows = await backing.store.hostProfiles.list({ where });
  await applyEvents(
    backing,
    rows.map((row) => ({ row, event })),
  );
}

/** A profile that a host has. `installed_at` is null if the host does not report it. */
export interface InstalledProfile {
  readonly identifier: string;
  readonly installed_at: string | null;
}

/** Compares a host's report with its profiles. Returns the rows that would change, with their events. */
export function eventsOfReport(
  rows: readonly HostProfileRow[],
  installed: readonly InstalledProfile[],
  reportedAt: number,
): { row: HostProfileRow; event: ProfileEvent }[] {
  const reported_at = isoAt(reportedAt);
  // A profile may be installed for several users: the newest counts.
  const installTimes = new Map<string, string | null>();
  for (const { identifier, installed_at } of installed) {
    const before = installTimes.get(identifier);
    if (before === undefined || (before !== null && (installed_at === null || installed_at > before)))
      installTimes.set(identifier, installed_at);
  }
  return rows.flatMap((row) => {
    const installed_at = installTimes.get(row.identifier);
    const event: ProfileEvent =
      installed_at === undefined ? { type: "missing", reported_at } : { type: "listed", installed_at, reported_at };
    return nextState(row, event) === row ? [] : { row, event };
  });
}

/** The hosts are not managed any more: nothing is known of their profiles. */
export async function forgetProfiles(backing: ProfileDeps, hostIds: readonly number[]): Promise<void> {
  // Most devices that enroll are new.
  if (!(await backing.store.hostProfiles.first({ where: oneOf("host_id", hostIds) }))) return;
  await changingHosts(backing, hostIds, async () => {
    await backing.store.hostProfiles.delete(oneOf("host_id", hostIds));
  });
}

/** What hosts have of a profile is known by its new name, whatever its state is. */
export async function renameOnHosts(
  store: Pick<ProfileDeps["store"], "hostProfiles">,
  profileUuid: string,
  { name, identifier }: Pick<HostProfileRow, "name" | "identifier">,
): Promise<void> {
  await store.hostProfiles.update({ where: eq("profile_uuid", profileUuid), set: { name, identifier } });
}
