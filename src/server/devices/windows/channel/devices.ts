// Enrollments: what others need to know of them, and how they end.

import { moveIdentity, revokeIdentities } from "../../../certificates/device-ca/identities.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { Inside, OpenOperation } from "../../../hosts/operations/kind.ts";
import { openOperationsOfRows } from "../../../hosts/operations/queue.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import type { Context } from "../../../platform/core/context.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import { part } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { dropCommands } from "../../commands/rows.ts";
import { endManagement } from "../../leaving/leave.ts";
import { forgetProfiles } from "../../profiles/host-rows.ts";
import { WINDOWS_LANE } from "../commands/kind.ts";
import type { Enrollment } from "./listeners.ts";
import { windowsDevices } from "./listeners.ts";
import { windowsEnrollments } from "./tables.ts";

export const isEnrolled = eq("state", "enrolled");

const named = ["id", "device_id", "host_id", "identity_id", "account", "is_alone"] as const;
/** What is needed of the enrollment in a session, and what waited for the device when its message arrived. */
export type InSession = Pick<Enrollment, (typeof named)[number]> & { readonly open: readonly OpenOperation[] };

/**
 * Enrolled devices by their own names. Every message needs its enrollment, and most find nothing that waits: messages
 * that arrive together share one read of both.
 */
export const enrolledByName = part(
  "enrollments of Windows devices",
  ({ store }) =>
    new Batcher<string, InSession | null>(
      async (names) => {
        const where = and(oneOf("device_id", [...new Set(names)]), isEnrolled);
        const [enrollments, open] = await store.readTogether((reads) =>
          Promise.all([
            reads.windowsEnrollments.pick(named, { where }),
            openOperationsOfRows(reads, { table: windowsEnrollments, where }, WINDOWS_LANE),
          ]),
        );
        const byName = new Map(
          enrollments.map((enrollment) => [
            enrollment.device_id,
            { ...enrollment, open: open.get(enrollment.host_id) ?? [] },
          ]),
        );
        return names.map((name) => byName.get(name) ?? null);
      },
      { size: 500, parallel: 2 },
    ),
);

/** The host's device, if it is enrolled. */
export const deviceOfHost = (store: ServerTx, hostId: number): Promise<Enrollment | null> =>
  store.windowsEnrollments.first({ where: and(eq("host_id", hostId), isEnrolled) });

/** The hosts among these whose device is enrolled. */
export async function hostsWithDevice(store: ServerTx, hostIds: readonly number[]): Promise<ReadonlySet<number>> {
  const where = and(oneOf("host_id", hostIds), isEnrolled);
  return new Set((await store.windowsEnrollments.pick(["host_id"], { where })).map(({ host_id }) => host_id));
}

/** The URL of a path for devices; null if the server's is not set. */
export async function windowsUrl(ctx: Pick<Context, "config" | "settings">, path: string): Promise<string | null> {
  const text = await serverUrl(ctx);
  return URL.canParse(text) ? `${new URL(text).href.replace(/\/+$/, "")}${path}` : null;
}

/** What was asked of the device is dropped: it will not answer. */
async function resetDevice(inside: Inside, device: Pick<Enrollment, "host_id" | "state">): Promise<void> {
  await dropCommands(inside, [device.host_id], WINDOWS_LANE);
  for (const { reset } of inside.extensions.of(windowsDevices)) await reset?.(inside, device);
}

/** The device has left device management, or was removed from it. Under the lock of its host's operations. */
export async function endEnrollment(inside: Inside, { id, host_id }: Pick<Enrollment, "id" | "host_id">) {
  const { store } = inside;
  if (
    (await store.windowsEnrollments.update({ where: and(eq("id", id), isEnrolled), set: { state: "removed" } })) === 0
  )
    return;
  await store.windowsNonces.delete(eq("enrollment_id", id));
  await resetDevice(inside, { host_id, state: "removed" });
  await endManagement(inside, host_id, null);
}

type NewEnrollment = Pick<Enrollment, "device_id" | "hardware_id" | "host_id" | "kind" | "is_alone"> &
  Pick<Enrollment, "account" | "secret"> & { readonly identity_id: number };

/** Another host's device is enrolled under this name. */
export class DeviceTaken extends Error {}

/** The device is enrolled; what an earlier enrollment of its host has left is dropped. Under the host's lock. */
export async function addEnrollment(inside: Context, enrollment: NewEnrollment): Promise<Enrollment> {
  const { store, clock } = inside;
  const taken = await store.windowsEnrollments.first({ where: eq("device_id", enrollment.device_id) });
  if (taken && taken.host_id !== enrollment.host_id) {
    if (taken.state === "enrolled") throw new DeviceTaken(`the device is that of the host ${taken.host_id}`);
    await store.windowsEnrollments.delete(eq("id", taken.id));
  }
  const before = await store.windowsEnrollments.first({ where: eq("host_id", enrollment.host_id) });
  if (before) {
    if (before.identity_id !== null) await revokeIdentities(inside, [before.identity_id]);
    await store.windowsEnrollments.delete(eq("id", before.id));
  }
  await forgetProfiles(inside, [enrollment.host_id]);
  await resetDevice(inside, { host_id: enrollment.host_id, state: "enrolled" });
  const now = clock.iso();
  return store.windowsEnrollments.insert({ ...enrollment, created_at: now, enrolled_at: now });
}

/** The enrolled device is that of another host, which has none. Under the locks of the operations of both. */
export async function moveEnrollment(
  { store }: Pick<Inside, "store">,
  device: Enrollment,
  host: Pick<HostRow, "id" | "team_id">,
): Promise<Enrollment> {
  await store.windowsEnrollments.delete(eq("host_id", host.id));
  const moved = { host_id: host.id, is_alone: false };
  await store.windowsEnrollments.update({ where: eq("id", device.id), set: moved });
  if (device.identity_id !== null) await moveIdentity(store, device.identity_id, host);
  return { ...device, ...moved };
}

/** What the device itself reports. */
export async function setDeviceSerial(store: ServerTx, hostId: number, serial: string): Promise<void> {
  await store.windowsEnrollments.update({ where: eq("host_id", hostId), set: { serial } });
}
