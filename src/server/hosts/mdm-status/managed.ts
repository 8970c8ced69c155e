// Hosts that join and leave the device management of this server. Each change is in the caller's transaction.

import { recordActivity } from "../../platform/activities/record.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import type { Inside } from "../operations/kind.ts";
import { assignedHostIds } from "./expected.ts";
import { ownMdm } from "./own.ts";
import { Solutions } from "./solutions.ts";

const statuses = { manual: "On (manual)", automatic: "On (automatic)", personal: "On (personal)" } as const;

interface ManagementState {
  readonly kind: keyof typeof statuses;
  /** The address to which the host connects, as its agents report it. */
  readonly serverUrl: string;
}

/** The host has enrolled in the device management of this server. */
export async function setManaged(inside: Context, id: number, { kind, serverUrl }: ManagementState): Promise<void> {
  const { store, clock } = inside;
  const solution = { name: ownMdm.name, server_url: serverUrl };
  const solutions = await new Solutions(store).ids([solution]);
  const now = clock.iso();
  const row = {
    id,
    enrollment_status: statuses[kind],
    solution_id: solutions.of(solution),
    installed_from_dep: kind === "automatic",
    connected_to_svc: true,
    leaving: false,
    enrolled_at: now,
    checked_in_at: now,
  };
  await store.hostMdm.upsert([row], { on: ["id"] });
  await store.notify(channels.hosts, hostsPayload([id]));
}

/** When devices last checked in, by the ids of their hosts. Hosts that were deleted in the meantime are skipped. */
export async function writeCheckIns(tx: ServerTx, times: ReadonlyMap<number, number>): Promise<void> {
  const rows = [...times].map(([id, time]) => ({ id, checked_in_at: isoAt(time) }));
  if (rows.length > 0) await tx.hostMdm.updateEach(rows);
}

/** The host's device was asked to leave. It is managed until it answers. */
export async function setLeaving({ store }: Pick<Inside, "store">, id: number): Promise<void> {
  await store.hostMdm.update({ where: eq("id", id), set: { leaving: true } });
}

/** The devices stay, or enroll again. */
export async function endLeaving({ store }: Pick<Inside, "store">, ids: readonly number[]): Promise<void> {
  await store.hostMdm.update({ where: and(oneOf("id", ids), eq("leaving", true)), set: { leaving: false } });
}

/** This server no longer manages the host: call `endManagement` (devices/leaving), which also forgets its profiles. False if it did not. `enrollmentId`: of a personal device, else null. */
export async function setUnmanaged(inside: Inside, id: number, enrollmentId: string | null): Promise<boolean> {
  const { store } = inside;
  const row = await store.hostMdm.get(id);
  const isExpected = (await assignedHostIds(store, [id])).has(id);
  // The update checks the condition again, because a concurrent call may have been first.
  const changed = await store.hostMdm.update({
    where: and(eq("id", id), eq("connected_to_svc", true)),
    set: {
      enrollment_status: isExpected ? "Pending" : "Off",
      solution_id: null,
      connected_to_svc: false,
      leaving: false,
    },
  });
  const host = row && changed > 0 ? await store.hosts.get(id) : null;
  if (!row || !host) return false;
  await store.notify(channels.hosts, hostsPayload([id]));
  await recordActivity(
    inside,
    "mdm_unenrolled",
    {
      host_serial: host.hardware_serial,
      enrollment_id: enrollmentId,
      host_display_name: host.display_name,
      installed_from_dep: row.installed_from_dep,
      platform: host.platform,
    },
    { hostId: host.id },
  );
  return true;
}
