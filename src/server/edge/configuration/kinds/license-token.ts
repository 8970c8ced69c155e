// The teams of the organization's tokens of the license program. The tokens themselves are secrets, added by the API.

import { z } from "zod";
import { NO_TEAM_NAME } from "../../../../api/settings/no-team.ts";
import type { vppTokenTeams } from "../../../delivery/store-apps/tables.ts";
import { EVERY_TEAM, NO_TEAM, type VppTokenRow } from "../../../delivery/store-apps/tables.ts";
import { exchangeTeams, VPP_TEAMS_LOCK_OPTIONS } from "../../../delivery/store-apps/tokens.ts";
import { isPremium } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { locating, refusal, type Step } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import { parsed } from "../parse.ts";
import { mayWriteConfig, type SharedRows } from "../shared-rows.ts";
import type { Thing } from "../values.ts";
import { count, differs, type Work } from "../work.ts";

const ALL_TEAMS = "All teams";

const TokenValue = z.strictObject({
  teams: z
    .array(z.string().min(1).max(255))
    .max(10_000)
    .transform((names) => [...new Set(names)].sort()),
});
type DesiredToken = z.output<typeof TokenValue>;

interface TokenRows {
  readonly tokens: readonly VppTokenRow[];
  readonly teams: readonly RowOf<typeof vppTokenTeams>[];
}

/** Several tokens for one location cannot have the same teams: only the oldest is in files. */
function* things({ tokens, teams }: TokenRows, shared: SharedRows): Generator<Thing> {
  const nameOf = new Map(shared.teams.map(({ id, name }) => [id, name]));
  const scopes = groupBy(teams, ({ token_id }) => token_id);
  const names = new Set<string>();
  for (const { id, location: name } of tokens) {
    if (names.has(name)) continue;
    names.add(name);
    const named = (scopes.get(id) ?? []).map(({ scope }) =>
      scope === EVERY_TEAM ? ALL_TEAMS : scope === NO_TEAM ? NO_TEAM_NAME : (nameOf.get(scope) ?? ""),
    );
    yield { kind: "license_token", owner: null, name, value: { teams: named.sort() } };
  }
}

function scopesOf({ teams, leaving }: Work, step: Step<DesiredToken>): number[] {
  const teamNames = step.desired.teams;
  if (teamNames.includes(ALL_TEAMS)) {
    if (teamNames.length > 1) throw refusal(step, invalid("teams", `${ALL_TEAMS} cannot be used with single teams`));
    return [EVERY_TEAM];
  }
  return teamNames.map((name) => {
    if (name === NO_TEAM_NAME) return NO_TEAM;
    const team = leaving.has(name) ? undefined : teams.get(name);
    if (!team) throw refusal(step, invalid("teams", `there is no team ${JSON.stringify(name)}`));
    return team.id;
  });
}

async function write(work: Work, { rows, steps }: Part<TokenRows, DesiredToken, unknown>): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired));
  const [first] = changed;
  if (!first) return;
  const changes = changed.map((step) => ({
    token: rows.tokens.find(({ location }) => location === step.name)!,
    scopes: scopesOf(work, step),
  }));
  await locating(first, () => exchangeTeams(work.ctx, changes));
  count(work, changed);
}

export const licenseToken: Kind<TokenRows, DesiredToken> = {
  name: "license_token",
  owners: ["global"],
  per: "section",
  noun: "token of the license program",
  lock: VPP_TEAMS_LOCK_OPTIONS.lock,
  action: () => "config:write",
  async load(ctx) {
    if (!isPremium(ctx) || !mayWriteConfig(ctx)) return { tokens: [], teams: [] };
    return {
      tokens: await ctx.store.vppTokens.list({ order: [{ column: "id", direction: "asc" }] }),
      teams: await ctx.store.vppTokenTeams.list(),
    };
  },
  things,
  read: (_, { value }) => parsed(TokenValue, value),
  write,
};
