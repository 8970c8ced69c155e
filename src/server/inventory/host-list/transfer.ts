// Moves any number of hosts to a team, or to no team, in batches. Each batch is a transaction of its own.
import type { BodyHostFilter } from "../../../api/inventory/host-filters.ts";
import { forgetForeignResults } from "../../checks/policies/results.ts";
import { moveSoftwareCounts } from "../../hosts/count-changes/software.ts";
import { lockHosts, moveHosts } from "../../hosts/hosts/write.ts";
import { cancelOfOtherTeams, lockWaiting } from "../../hosts/operations/moves.ts";
import { moveSettings } from "../../hosts/os-settings/statuses.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { authorize, visible } from "../../platform/core/security/access.ts";
import { and, eq, isNull, not, oneOf } from "../../platform/store/query.ts";
import { endDeviceLinks } from "../device-tokens/links.ts";
import { chosenIds } from "./chosen.ts";

/**
 * Hosts per transaction: few enough that other requests do not wait long and that their names fit into one activity.
 */
const BATCH_SIZE = 250;

interface Destination {
  readonly id: number | null;
  readonly name: string | null;
}

/** Null and 0 mean no team. The caller must have the role on the hosts and on the destination team. */
export async function transferHosts(
  ctx: Context,
  teamId: number | null,
  which: { ids: readonly number[] } | { filters: BodyHostFilter },
): Promise<void> {
  const team = await destination(ctx, teamId);
  const ids = await chosenIds(ctx, "hosts:transfer", which);
  for (let at = 0; at < ids.length; at += BATCH_SIZE) await transferBatch(ctx, ids.slice(at, at + BATCH_SIZE), team);
}

async function destination(ctx: Context, teamId: number | null): Promise<Destination> {
  const id = teamId === 0 ? null : teamId;
  authorize(ctx, "hosts:transfer", id);
  if (id === null) return { id, name: null };
  const team = await ctx.store.teams.get(id);
  if (!team) throw notFound("team", id);
  return { id, name: team.name };
}

/** Skips hosts that were deleted, moved to a team on which the caller has no role, or are already in the team. */
async function transferBatch(ctx: Context, ids: readonly number[], { id: teamId, name }: Destination): Promise<void> {
  await ctx.store.tx(async (store) => {
    // If the team was deleted in the meantime, the foreign key refuses the update.
    const elsewhere = not(teamId === null ? isNull("team_id") : eq("team_id", teamId));
    const where = and(oneOf("id", ids), visible(ctx, "hosts:transfer"), elsewhere);
    // Another request may be moving the same hosts.
    const inside = within(ctx, store);
    const leaving = (await store.hosts.pick(["id"], { where })).map(({ id }) => id);
    const waiting = await lockWaiting(store, leaving);
    await lockHosts(inside, where);
    const hosts = await store.hosts.pick(["id", "display_name", "team_id"], { where });
    if (hosts.length === 0) return;
    const moved = hosts.map(({ id }) => id);
    await moveSoftwareCounts(store, moved, teamId);
    await moveSettings(store, moved, teamId);
    const isMoved = new Set(moved);
    await cancelOfOtherTeams(
      inside,
      waiting.filter((id) => isMoved.has(id)),
      teamId,
    );
    await moveHosts(inside, and(oneOf("id", moved), where), teamId, moved);
    await forgetForeignResults(store, moved);
    await endDeviceLinks(store, moved);
    const details = {
      team_id: teamId,
      team_name: name,
      host_ids: moved,
      host_display_names: hosts.map(({ display_name }) => display_name),
    };
    const formerTeams = new Map(hosts.map(({ id, team_id }) => [id, team_id]));
    await recordActivity(inside, "transferred_hosts", details, { formerTeams });
  });
}
