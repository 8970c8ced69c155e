// Sends profiles again: to one host, or to all on which one has failed.

import type { HostRow } from "../../hosts/hosts/access.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict, notFound } from "../../platform/core/errors.ts";
import { recordRuns } from "../../platform/policy-runs/record.ts";
import { and, eq, isNull, not, oneOf, type Predicate } from "../../platform/store/query.ts";
import { requireAnyMdm } from "../gate.ts";
import { profileFor } from "./access.ts";
import { applyEvents } from "./host-rows.ts";
import { notifyProfiles } from "./part.ts";

export async function resendToHost(ctx: Context, hostId: number, uuid: string): Promise<Record<string, never>> {
  const host = await hostFor(ctx, "profiles:resend", hostId);
  return resend(ctx, host, uuid);
}

/** Sends a profile again to a host that fails a policy. */
export async function resendForPolicy(
  ctx: Context,
  hostId: number,
  uuid: string,
  policy: { readonly id: number; readonly name: string },
): Promise<void> {
  await resend(ctx, await hostFor(ctx, "profiles:resend", hostId), uuid, policy);
}

/** The caller has found that the request may do this on the host. `policy`: the one that asks for it. */
export async function resend(
  ctx: Context,
  host: Pick<HostRow, "id" | "display_name">,
  uuid: string,
  policy?: { readonly id: number; readonly name: string },
): Promise<Record<string, never>> {
  await requireAnyMdm(ctx);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await store.hostProfiles.first({ where: and(eq("host_id", host.id), eq("profile_uuid", uuid)) });
    if (!row || row.operation_type === "remove") throw notFound("configuration profile of the host", uuid);
    if (row.status === null || row.status === "pending" || row.status === "verifying")
      throw conflict(
        `the profile ${JSON.stringify(row.name)} is being sent to the host: it can be sent again when it is verified or failed`,
      );
    await applyEvents(inside, [{ row, event: { type: "changed" } }]);
    const activityId = await recordActivity(
      inside,
      "resent_configuration_profile",
      {
        host_id: host.id,
        host_display_name: host.display_name,
        profile_name: row.name,
        ...(policy ? { profile_uuid: uuid, policy_id: policy.id, policy_name: policy.name } : {}),
      },
      { hostId: host.id },
    );
    if (policy) await recordRuns(inside, { policyId: policy.id, hostIds: [host.id], activityId, isSuccess: true });
    await notifyProfiles(store, { hostIds: [host.id] });
  });
  return {};
}

const BATCH_SIZE = 1_000;

export async function resendFailed(ctx: Context, uuid: string): Promise<Record<string, never>> {
  const profile = await profileFor(ctx, "profiles:resend", uuid);
  await requireAnyMdm(ctx);
  const where = and(eq("profile_uuid", profile.uuid), eq("status", "failed"), eq("operation_type", "install"));
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const hosts = (await store.hostProfiles.pick(["host_id"], { where })).map(({ host_id }) => host_id);
    const count = await sendAgain(inside, where);
    if (count === 0) return;
    const details = { profile_name: profile.name, host_count: count };
    await recordActivity(inside, "resent_configuration_profile_batch", details, { hosts });
    await notifyProfiles(store, { profileIds: [profile.id] });
  });
  return {};
}

/** What hosts have, or are about to get, of these profiles. */
export const sentRows = (uuids: readonly string[]): Predicate =>
  and(oneOf("profile_uuid", uuids), eq("operation_type", "install"), not(isNull("status")));

/** In the caller's transaction. Rows that are to be sent must not match. Returns how many there were. */
export async function sendAgain(inside: Context, where: Predicate): Promise<number> {
  for (let count = 0; ; ) {
    const rows = await inside.store.hostProfiles.list({ where, limit: BATCH_SIZE });
    if (rows.length === 0) return count;
    count += await applyEvents(
      inside,
      rows.map((row) => ({ row, event: { type: "changed" } })),
    );
  }
}
