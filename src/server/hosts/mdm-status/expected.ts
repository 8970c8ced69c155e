// Hosts that the business portal assigns to this server, and that have not enrolled yet.
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, isNull, oneOf } from "../../platform/store/query.ts";

/** The hosts that the portal assigns to this server. */
export async function assignedHostIds(store: ServerTx, hostIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (hostIds.length === 0) return new Set();
  const where = and(oneOf("host_id", hostIds), isNull("deleted_at"));
  return new Set((await store.portalDevices.pick(["host_id"], { where })).map(({ host_id }) => host_id!));
}

/** Marks hosts that are in no device management as those that will enroll in this one. */
export async function expectEnrollment(tx: ServerTx, hostIds: readonly number[]): Promise<void> {
  if (hostIds.length === 0) return;
  await tx.hostMdm.upsert(
    hostIds.map((id) => ({ id, enrollment_status: "Pending" as const, installed_from_dep: true })),
    { on: ["id"], set: [], returning: [] },
  );
  await tx.hostMdm.update({
    where: and(oneOf("id", hostIds), eq("enrollment_status", "Off")),
    set: { enrollment_status: "Pending", installed_from_dep: true },
  });
}

/** The reverse. Returns the hosts that still were only expected. */
export async function expectNoEnrollment(tx: ServerTx, hostIds: readonly number[]): Promise<number[]> {
  const pending = and(oneOf("id", hostIds), eq("enrollment_status", "Pending"));
  const rows = await tx.hostMdm.pick(["id"], { where: pending });
  await tx.hostMdm.update({ where: pending, set: { enrollment_status: "Off" } });
  await setPortalError(tx, hostIds, false);
  return rows.map(({ id }) => id);
}

/** Whether the portal could not assign a profile to the hosts. */
export async function setPortalError(
  tx: ServerTx,
  hostIds: readonly number[],
  dep_profile_error: boolean,
): Promise<void> {
  if (hostIds.length > 0) await tx.hostMdm.update({ where: oneOf("id", hostIds), set: { dep_profile_error } });
}
