// The teams of the organization's tokens of the business portal. The tokens themselves are secrets, added by the API.
import { z } from "zod";
import {
  type AbmTokenRow,
  keepTokenTeams,
  type teamColumns,
  type WholeTeams,
} from "../../../devices/apple/portal/tokens.ts";
import { type Context, isPremium } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import { refusal } from "../changes.ts";
import type { Kind, Part } from "../kind.ts";
import { parsed } from "../parse.ts";
import { mayWriteConfig, type SharedRows } from "../shared-rows.ts";
import type { Thing } from "../values.ts";
import { count, differs, type Work } from "../work.ts";

const columns = {
  macos_team: "macos_team_id",
  ios_team: "ios_team_id",
  ipados_team: "ipados_team_id",
  byod_team: "byod_team_id",
} as const satisfies Record<string, (typeof teamColumns)[number]>;
const names = Object.keys(columns) as (keyof typeof columns)[];

const team = z.string().max(255).default("");
const TokenValue = z.strictObject({ macos_team: team, ios_team: team, ipados_team: team, byod_team: team });
type DesiredToken = z.output<typeof TokenValue>;

const byOrganization = (rows: readonly AbmTokenRow[]) => groupBy(rows, ({ org_name }) => org_name);

/** Several tokens of one organization have the same teams; the oldest shows them. */
function* things(rows: readonly AbmTokenRow[], { teams }: SharedRows): Generator<Thing> {
  const nameOf = new Map(teams.map(({ id, name }) => [id, name]));
  for (const [name, [first]] of byOrganization(rows)) {
    const value = Object.fromEntries(
      names.map((key) => {
        const id = first![columns[key]];
        return [key, id === null ? "" : (nameOf.get(id) ?? "")];
      }),
    );
    yield { kind: "portal_token", owner: null, name, value };
  }
}

async function write(work: Work, { rows, steps }: Part<readonly AbmTokenRow[], DesiredToken, unknown>): Promise<void> {
  const changed = steps.filter((step) => differs(work, step, step.desired));
  const tokens = byOrganization(rows);
  for (const step of changed) {
    const set: Record<string, number | null> = {};
    for (const key of names) {
      const name = step.desired[key];
      const team = work.leaving.has(name) ? undefined : work.teams.get(name);
      if (name !== "" && !team) throw refusal(step, invalid(key, `there is no team ${JSON.stringify(name)}`));
      set[columns[key]] = team?.id ?? null;
    }
    for (const token of tokens.get(step.name) ?? []) await keepTokenTeams(work.ctx, token, set as WholeTeams);
  }
  count(work, changed);
}

export const portalToken: Kind<readonly AbmTokenRow[], DesiredToken> = {
  name: "portal_token",
  owners: ["global"],
  per: "section",
  noun: "token of the business portal",
  action: () => "config:write",
  load: async (ctx: Context) =>
    isPremium(ctx) && mayWriteConfig(ctx)
      ? ctx.store.abmTokens.list({ order: [{ column: "id", direction: "asc" }] })
      : [],
  things,
  read: (_, { value }) => parsed(TokenValue, value),
  write,
};
