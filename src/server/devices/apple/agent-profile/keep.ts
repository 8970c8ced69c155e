// Keeps up the profile that configures agents, in each team that hosts can enroll into.
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import { serverUrl } from "../../../platform/core/http/links.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, isNull, not } from "../../../platform/store/query.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { keepOwnProfiles, ownProfiles, PROFILE_LOCK_OPTIONS } from "../../profiles/service.ts";
import { applePlatform } from "../profiles/platform.ts";
import { AGENT_IDENTIFIER, agentUpload } from "./profile.ts";

const agentProfile = { identifier: AGENT_IDENTIFIER, hostPlatform: "darwin" };

/** Teams, or null for hosts without one, with a secret with which hosts enroll. */
async function teamsWithSecrets({ store }: Context): Promise<ReadonlySet<number | null>> {
  const rows = await store.enrollSecrets.pick(["team_id"], { where: not(isNull("secret_hash")) });
  return new Set(rows.map(({ team_id }) => team_id));
}

async function keepAgentProfiles(services: Services): Promise<void> {
  const ctx = serviceContext(services, "agent profile");
  const before = await ctx.store.configurationProfiles.pick(["id"], { where: ownProfiles(agentProfile) });
  if (!(await applePlatform.isOn(ctx))) return;
  const url = await serverUrl(ctx);
  const isWanted = url.startsWith("https://");
  if (before.length === 0 && (!isWanted || (await teamsWithSecrets(ctx)).size === 0)) return;
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const teams = isWanted ? await teamsWithSecrets(inside) : new Set<number | null>();
    const upload = agentUpload(url);
    await keepOwnProfiles(inside, agentProfile, new Map([...teams].map((team) => [team, upload])));
    // A secret may have been replaced.
    const kept = await store.configurationProfiles.pick(["id"], {
      where: and(ownProfiles(agentProfile), eq("has_variables", true)),
    });
    if (kept.length > 0) await notifyProfiles(store, { profileIds: kept.map(({ id }) => id) });
  }, PROFILE_LOCK_OPTIONS);
}

export const agentProfileKeeper = settingsFollower(
  "agent profile",
  { failure: "cannot keep the profile of agents; trying again", also: [channels.enrollSecrets] },
  keepAgentProfiles,
);

export const agentProfileJob: Job = {
  name: "agent_profile",
  every: minutes(10),
  run: keepAgentProfiles,
};
