// What the portal knows of hosts, and how hosts leave it.
import type { DepAssignment } from "../../../../api/devices/abm.ts";
import { hostFor } from "../../../hosts/hosts/access.ts";
import { recordActivities } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { invalid, upstreamFailed } from "../../../platform/core/errors.ts";
import { byId, groupBy } from "../../../platform/core/maps.ts";
import { and, eq, isNull, oneOf } from "../../../platform/store/query.ts";
import { BATCH_SIZE, PortalError } from "./client.ts";
import type { DeviceRow } from "./devices.ts";
import { clientOf, tokenRow } from "./tokens.ts";

export async function assignmentOf(ctx: Context, id: number): Promise<DepAssignment> {
  const host = await hostFor(ctx, "mdm:read", id);
  const row = await ctx.store.portalDevices.first({ where: eq("host_id", host.id) });
  if (!row) return { id: host.id, dep_device: false, dep_device_error: false, host_dep_assignment: null };
  const enrollment = await ctx.store.hostMdm.get(host.id);
  const isMigrated = row.migration_deadline !== null && enrollment?.connected_to_svc === true;
  return {
    id: host.id,
    dep_device: row.deleted_at === null,
    dep_device_error: row.response === "FAILED" || row.response === "NOT_ACCESSIBLE",
    host_dep_assignment: {
      assign_profile_response: row.response,
      profile_uuid: row.profile_uuid,
      response_updated_at: row.response_at,
      added_at: row.added_at,
      deleted_at: row.deleted_at,
      abm_token_id: row.token_id,
      mdm_migration_deadline: row.migration_deadline,
      mdm_migration_completed: isMigrated ? enrollment.enrolled_at : null,
    },
  };
}

interface ReleaseResult {
  readonly host_id: number;
  readonly status: "success" | "failed";
  readonly error: string;
}

/** All hosts have to be there; those that the portal does not know fail one by one. */
export async function releaseHosts(ctx: Context, ids: readonly number[]): Promise<{ results: ReleaseResult[] }> {
  const requested = [...new Set(ids)];
  if (requested.length === 0) throw invalid("ids", "must not be empty");
  if (requested.length > BATCH_SIZE) throw invalid("ids", `at most ${BATCH_SIZE} hosts can be released at once`);
  const hosts = byId(await ctx.store.hosts.getMany(requested));
  const unknown = requested.find((id) => !hosts.has(id));
  if (unknown !== undefined) throw invalid("ids", `host ${unknown} was not found in the datastore`);
  const rows = await ctx.store.portalDevices.list({ where: and(oneOf("host_id", requested), isNull("deleted_at")) });
  const results = new Map<number, ReleaseResult>(
    requested.map((id) => [
      id,
      { host_id: id, status: "failed", error: "the business portal does not know this host" },
    ]),
  );
  for (const [tokenId, devices] of groupBy(rows, ({ token_id }) => token_id)) {
    const responses = await disown(ctx, tokenId, devices);
    const released = devices.filter(({ serial }) => responses.get(serial) === "SUCCESS");
    await ctx.store.tx(async (store) => {
      await store.portalDevices.update({
        where: oneOf(
          "id",
          released.map(({ id }) => id),
        ),
        set: { deleted_at: ctx.clock.iso(), profile_uuid: "" },
      });
      await recordActivities(
        within(ctx, store),
        "released_host",
        released.map(({ host_id, serial }) => ({
          host_id: host_id!,
          host_display_name: hosts.get(host_id!)?.display_name ?? "",
          host_serial: serial,
        })),
        { hostIds: released.map(({ host_id }) => host_id!) },
      );
    });
    for (const { serial, host_id } of devices) {
      const response = responses.get(serial);
      results.set(
        host_id!,
        response === "SUCCESS"
          ? { host_id: host_id!, status: "success", error: "" }
          : { host_id: host_id!, status: "failed", error: `the portal answered ${response ?? "nothing"}` },
      );
    }
  }
  return { results: [...results.values()] };
}

async function disown(ctx: Context, tokenId: number, devices: readonly DeviceRow[]) {
  try {
    return await clientOf(ctx, await tokenRow(ctx, tokenId)).disown(devices.map(({ serial }) => serial));
  } catch (error) {
    if (error instanceof PortalError) throw upstreamFailed(error.message);
    throw error;
  }
}
