import { usersLosingTeam } from "../../accounts/users/membership.ts";
import { policiesLeave } from "../../checks/policies/service.ts";
import { moveSoftwareCounts } from "../../hosts/count-changes/software.ts";
import { lockHosts, moveHosts } from "../../hosts/hosts/write.ts";
import { cancelOfOtherTeams, lockWaiting } from "../../hosts/operations/moves.ts";
import { moveSettings } from "../../hosts/os-settings/statuses.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { eq } from "../../platform/store/query.ts";
import { getTeamRow, type TeamRow } from "../../settings/teams/access.ts";
import { deleteTeamRow } from "../../settings/teams/write.ts";

/** Work to do after the transaction has been committed. */
type Afterwards = (ctx: Context) => void;

/** Deletes a team. Its hosts stay without a team; its policies, secrets and user roles are deleted. */
export async function deleteTeam(ctx: Context, id: number): Promise<Record<string, never>> {
  const afterwards = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      return removeTeam(inside, await getTeamRow(inside, "teams:delete", id));
    },
    { lock: "users" },
  );
  afterwards(ctx);
  return {};
}

/**
 * Deletes the team in the caller's transaction, which must hold the lock "users". Returns the work to do
 * after it.
 */
export async function removeTeam(inside: Context, { id, name }: TeamRow): Promise<Afterwards> {
  const { store } = inside;
  const leaving = (await store.hosts.pick(["id"], { where: eq("team_id", id) })).map((host) => host.id);
  const waiting = await lockWaiting(store, leaving);
  await cancelOfOtherTeams(inside, waiting, null);
  const afterwards = await policiesLeave(inside, id);
  await lockHosts(inside, eq("team_id", id));
  const hosts = (await store.hosts.pick(["id"], { where: eq("team_id", id) })).map((host) => host.id);
  await moveSoftwareCounts(store, hosts, null);
  await moveSettings(store, hosts, null);
  await moveHosts(inside, eq("team_id", id), null);
  await usersLosingTeam(inside, id);
  await recordActivity(inside, "deleted_team", { team_id: id, team_name: name });
  await deleteTeamRow(store, id);
  return afterwards;
}
