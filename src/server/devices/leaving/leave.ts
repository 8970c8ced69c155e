// Hosts leave the device management of this server.

import { hostFor } from "../../hosts/hosts/access.ts";
import { setLeaving, setUnmanaged } from "../../hosts/mdm-status/managed.ts";
import type { Inside } from "../../hosts/operations/kind.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { mdmOff } from "../../platform/core/errors.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";
import { forgetProfiles } from "../profiles/host-rows.ts";

/** Asks a device of the host to leave device management, and returns whether there is one. */
export type LeaveRequest = (inside: Context, hostId: number) => Promise<boolean>;

export const leaveRequests = extensionPoint<LeaveRequest>("requests to leave device management");

/**
 * This server no longer manages the host, and knows nothing of its profiles. False if it did not manage it.
 * `enrollmentId`: of a personal device, else null.
 */
export async function endManagement(inside: Inside, id: number, enrollmentId: string | null): Promise<boolean> {
  if (!(await setUnmanaged(inside, id, enrollmentId))) return false;
  await forgetProfiles(inside, [id]);
  return true;
}

/**
 * Ends this server's management of the host; if it has a device, when that answers. Refused if another product or none
 * manages the host.
 */
export async function unenrollHost(ctx: Context, id: number): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "mdm:unenroll", id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    for (const ask of ctx.extensions.of(leaveRequests))
      if (await ask(inside, host.id)) return setLeaving(inside, host.id);
    if (!(await endManagement(inside, host.id, null))) throw mdmOff();
  }, operationLock(host.id));
  return {};
}
