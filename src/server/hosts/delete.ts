// Deleting hosts: one, or any number in batches that each stand for themselves.
import type { BodyHostFilter } from "../../api/hosts.ts";
import { recordActivities } from "../activities/record.ts";
import type { ActivityTypes } from "../activities/types.ts";
import { authorize, visible } from "../core/access.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { seconds } from "../core/clock.ts";
import { type Context, isPremium, within } from "../core/context.ts";
import { badRequest, invalid } from "../core/errors.ts";
import { inBackground } from "../jobs/background.ts";
import { and, oneOf, type Predicate } from "../store/query.ts";
import { admitToHost, hostFor } from "./access.ts";
import { filterOfBody, hostsWhere } from "./filters.ts";

/** Hosts in one transaction: short enough that others' requests wait little. */
const BATCH = 100;
/** A bulk delete that takes longer is answered, and goes on. */
export const TIME_LIMIT = seconds(30);

type Reason = Pick<ActivityTypes["deleted_host"], "triggered_by" | "host_expiry_window">;
const byHand: Reason = { triggered_by: "manual" };

export async function deleteHost(ctx: Context, id: number): Promise<void> {
  await hostFor(ctx, "hosts:delete", id);
  await deleteBatch(ctx, [id], visible(ctx, "hosts:delete"), byHand);
}

/** Whether all were deleted within the time limit; else the rest goes on in the background. */
export async function deleteManyHosts(
  ctx: Context,
  body: { ids?: number[] | undefined; filters?: BodyHostFilter | undefined },
): Promise<"done" | "goes on"> {
  const ids = await chosenIds(ctx, body);
  const allowed = visible(ctx, "hosts:delete");
  const started = ctx.clock.now();
  for (let at = 0; at < ids.length; at += BATCH) {
    if (ctx.clock.now() - started > TIME_LIMIT) {
      const rest = ids.slice(at);
      inBackground(ctx, "bulk host delete", (signal) => deleteInBatches(ctx, rest, allowed, byHand, signal));
      return "goes on";
    }
    await deleteBatch(ctx, ids.slice(at, at + BATCH), allowed, byHand);
  }
  return "done";
}

/** Deletes hosts that still satisfy `where`, until the signal aborts. Gives the number deleted. */
export async function deleteInBatches(
  ctx: Context,
  ids: readonly number[],
  where: Predicate,
  reason: Reason,
  signal: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let at = 0; at < ids.length && !signal.aborted; at += BATCH)
    deleted += await deleteBatch(ctx, ids.slice(at, at + BATCH), where, reason);
  return deleted;
}

async function deleteBatch(ctx: Context, ids: readonly number[], where: Predicate, reason: Reason): Promise<number> {
  return ctx.store.tx(async (store) => {
    const hosts = await store.hosts.pick(["id", "display_name", "hardware_serial"], {
      where: and(oneOf("id", ids), where),
    });
    if (hosts.length === 0) return 0;
    const gone = hosts.map(({ id }) => id);
    await store.hosts.delete(oneOf("id", gone));
    await recordActivities(
      within(ctx, store),
      "deleted_host",
      hosts.map((host) => ({
        host_id: host.id,
        host_display_name: host.display_name,
        host_serial: host.hardware_serial,
        ...reason,
      })),
    );
    await store.notify(channels.hosts, hostsPayload(gone));
    return gone.length;
  });
}

async function chosenIds(
  ctx: Context,
  { ids, filters }: { ids?: number[] | undefined; filters?: BodyHostFilter | undefined },
): Promise<number[]> {
  if ((ids === undefined) === (filters === undefined)) throw badRequest("exactly one of ids and filters is required");
  if (ids) return admittedIds(ctx, [...new Set(ids)]);
  return idsOfFilter(ctx, filters!);
}

/** All of them or none: an id that the caller may not delete, or that is not there, stops the whole call. */
async function admittedIds(ctx: Context, ids: readonly number[]): Promise<number[]> {
  const teams = new Map<number, { team_id: number | null }>();
  for (let at = 0; at < ids.length; at += 1000)
    for (const host of await ctx.store.hosts.pick(["id", "team_id"], { where: oneOf("id", ids.slice(at, at + 1000)) }))
      teams.set(host.id, host);
  for (const id of ids) admitToHost(ctx, "hosts:delete", id, teams.get(id));
  return [...ids];
}

async function idsOfFilter(ctx: Context, filters: BodyHostFilter): Promise<number[]> {
  if (filters.label_id != null && filters.status !== undefined)
    throw invalid("filters.label_id", "label_id and status cannot be combined");
  if (filters.team_id != null) {
    if (!isPremium(ctx)) throw badRequest("option team_id requires a premium license", "filters.team_id");
    authorize(ctx, "hosts:delete", filters.team_id === 0 ? null : filters.team_id);
  }
  const where = hostsWhere(ctx, filterOfBody(filters), "hosts:delete");
  return (await ctx.store.hosts.pick(["id"], { where })).map(({ id }) => id);
}
