// Tokens for commands that people copy, where an enroll secret would stay for good.
import type { EnrollToken } from "../../../api/delivery/new-hosts.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { days, minutes } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { readDuration } from "../../platform/core/duration.ts";
import { invalid } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { addToken } from "../../settings/enroll-secrets/tokens.ts";
import { getTeamRow } from "../../settings/teams/access.ts";
import { enrollCommands } from "./commands.ts";
import { privateCertificate } from "./private-certificate.ts";
import { agentSha256 } from "./service.ts";

const MAX_LIFETIME = days(7);
const MIN_LIFETIME = minutes(1);

interface TokenInput {
  /** 0: no team. */
  readonly team_id?: number | undefined;
  readonly expires_in: string;
  readonly sign_requests: boolean;
}

export async function createEnrollToken(
  ctx: Context,
  { team_id, expires_in, sign_requests }: TokenInput,
): Promise<EnrollToken> {
  const teamId = team_id || null;
  if (teamId === null) authorize(ctx, "enroll_secrets:read", null);
  else needPremium(ctx);
  const lifetime = readDuration(expires_in);
  if (lifetime === null) throw invalid("expires_in", "must be a duration such as 30m or 12h");
  if (lifetime < MIN_LIFETIME || lifetime > MAX_LIFETIME) throw invalid("expires_in", "must be between 1m and 7d");
  const { token, expires_at } = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const team = teamId === null ? null : await getTeamRow(inside, "enroll_secrets:read", teamId);
    const added = await addToken(inside, teamId, lifetime);
    const details = { team_id: teamId, team_name: team?.name ?? null, expires_at: added.expires_at };
    await recordActivity(inside, "created_enroll_token", details);
    return added;
  });
  const server_url = await linkTo(ctx, "");
  const trusted = server_url.startsWith("https:") ? await privateCertificate(ctx) : null;
  const options = { signsRequests: sign_requests, keyPin: trusted?.keyPin ?? null };
  return {
    token,
    expires_at,
    team_id: teamId,
    server_url,
    agent_sha256: await agentSha256(ctx),
    // A dry run masks the token above, and here it would be part of a text.
    commands: enrollCommands(server_url, ctx.dryRun === null ? token : "TOKEN", options),
  };
}
