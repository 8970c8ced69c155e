// A user may let the next sign-in from a host pass although it fails policies, unless the organization has turned that off.

import type { HostRow } from "../../hosts/hosts/access.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, forbiddenFor } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { isTurnedOnFor } from "./policies.ts";

/** How long the sign-in may be put off. */
const LIFETIME = hours(1);

/** Whether users of the host may do so. */
export async function mayBypass(
  ctx: Pick<Context, "store" | "config">,
  host: Pick<HostRow, "team_id">,
): Promise<boolean> {
  const { conditional_access: access } = await ctx.config.current();
  return access.provider_idp_id !== "" && !access.bypass_disabled && (await isTurnedOnFor(ctx, host));
}

export async function bypassOnce(ctx: Context, host: HostRow): Promise<void> {
  const { conditional_access: access } = await ctx.config.current();
  if (access.bypass_disabled)
    throw forbiddenFor("the organization does not let users sign in from hosts that fail policies");
  if (!(await mayBypass(ctx, host))) throw badRequest("conditional access is not turned on for this host");
  const expires_at = isoAt(ctx.clock.now() + LIFETIME);
  const before = await ctx.store.conditionalAccessBypasses.get(host.id);
  await ctx.store.conditionalAccessBypasses.upsert([{ id: host.id, expires_at }], { on: ["id"], returning: [] });
  // One that can still be used is in the log already.
  if (before !== null && before.expires_at > ctx.clock.iso()) return;
  ctx.log.warn({ host_id: host.id }, "the user of a host lets the next sign-in pass although it may fail policies");
}

/** Uses it up. Of several sign-ins at the same time, one passes. Call this in a transaction. */
export const takeBypass = async (tx: ServerTx, hostId: number, now: string): Promise<boolean> =>
  (await tx.conditionalAccessBypasses.delete(and(eq("id", hostId), gt("expires_at", now)))) > 0;
