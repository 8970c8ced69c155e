// What others need to know of enrollments.

import type { Hardware, HardwareLookup } from "../../../hosts/enrollment/kind.ts";
import type { Inside } from "../../../hosts/operations/kind.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { isoAt, seconds } from "../../../platform/core/clock.ts";
import { type Context, service, within } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import { dropCommands } from "../../commands/rows.ts";
import { endManagement } from "../../leaving/leave.ts";
import { APPLE_LANE } from "../lane.ts";
import { isReachable } from "../push/devices.ts";
import type { Enrollment } from "./listeners.ts";
import { appleDevices } from "./listeners.ts";

/** The channel of the device itself, not that of one of its users. */
export const isDevice = eq("is_user", false);

/** Devices write their ids in upper case, and agents the same UUID in lower case. */
const spellingsOfId = (id: string): string[] => [...new Set([id, id.toUpperCase(), id.toLowerCase()])];

/** The device's enrollment, whether it has ended or not. */
export const enrollmentNamed = (store: ServerTx, enrollmentId: string): Promise<Enrollment | null> =>
  store.appleEnrollments.first({ where: and(oneOf("enrollment_id", spellingsOfId(enrollmentId)), isDevice) });

/** The host's device, if it is enrolled. */
export const deviceOfHost = (store: ServerTx, hostId: number): Promise<Enrollment | null> =>
  store.appleEnrollments.first({ where: and(eq("host_id", hostId), isReachable) });

/** The enrolled devices of these hosts. */
export const devicesOfHosts = (store: ServerTx, hostIds: readonly number[]) =>
  store.appleEnrollments.pick(["host_id", "kind"], { where: and(oneOf("host_id", hostIds), isReachable) });

/** A Mac that locks itself may still ask for commands; later it does so only after its PIN was entered. */
export const LOCKS_WITHIN = seconds(5);

/** Listeners are called once when the device connects by itself, after at least this many milliseconds. */
export async function expectReturn(
  { store, clock }: Pick<Inside, "store" | "clock">,
  hostId: number,
  least: number,
): Promise<void> {
  const set = { returns_after: isoAt(clock.now() + least) };
  await store.appleEnrollments.update({ where: and(eq("host_id", hostId), isReachable), set });
}

/** The device has connected by itself. */
export async function noteReturn(
  ctx: Context,
  { id, host_id, returns_after }: Pick<Enrollment, "id" | "host_id" | "returns_after">,
): Promise<void> {
  if (returns_after === null || ctx.clock.iso() < returns_after) return;
  await ctx.store.tx(async (store) => {
    // The update decides: of two messages that arrive together, one is the first.
    const where = and(eq("id", id), eq("returns_after", returns_after));
    if ((await store.appleEnrollments.update({ where, set: { returns_after: null } })) === 0) return;
    const inside = { ...within(ctx, store), user: service };
    for (const { returned } of ctx.extensions.of(appleDevices)) await returned?.(inside, { host_id });
  }, operationLock(host_id));
}

/** The hosts of devices with these UDIDs, which stay theirs when they leave. */
export const enrolledHosts: HardwareLookup = async (store, hardware) => {
  const spellings = ({ uuid }: Hardware) => (uuid === "" ? [] : spellingsOfId(uuid));
  const where = and(oneOf("enrollment_id", hardware.flatMap(spellings)), isDevice);
  const rows = await store.appleEnrollments.pick(["enrollment_id", "host_id"], { where });
  const byId = new Map(rows.map(({ enrollment_id, host_id }) => [enrollment_id.toLowerCase(), host_id]));
  return hardware.map(({ uuid }) => byId.get(uuid.toLowerCase()) ?? null);
};

/** The device has left its setup assistant. */
export async function endWaiting(store: ServerTx, hostId: number): Promise<void> {
  const where = and(eq("host_id", hostId), isReachable);
  await store.appleEnrollments.update({ where, set: { awaiting_configuration: false } });
}

/** What was asked of the device is dropped: it will not answer. */
export async function resetDevice(inside: Inside, device: Pick<Enrollment, "host_id" | "state">): Promise<void> {
  await dropCommands(inside, [device.host_id], APPLE_LANE);
  for (const { reset } of inside.extensions.of(appleDevices)) await reset?.(inside, device);
}

/** The device has left device management, or was removed from it. Under the lock of its host's operations. */
export async function endEnrollment(inside: Inside, { id, host_id }: Pick<Enrollment, "id" | "host_id">) {
  const { store } = inside;
  const isLeft = and(eq("id", id), not(eq("state", "removed")));
  const tokens = { token: null, push_magic: null, unlock_token: null, bootstrap_token: null };
  const set = { state: "removed", returns_after: null, ...tokens } as const;
  if ((await store.appleEnrollments.update({ where: isLeft, set })) === 0) return;
  await store.appleEnrollments.delete(and(eq("host_id", host_id), eq("is_user", true)));
  await resetDevice(inside, { host_id, state: "removed" });
  const ended = await store.appleEnrollments.get(id);
  await endManagement(inside, host_id, ended?.kind === "personal" ? ended.enrollment_id : null);
}
