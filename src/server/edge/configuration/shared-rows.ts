// The rows that several kinds refer to, and how kinds read their own in bounded parts.
import { setImmediate as breathe } from "node:timers/promises";
import type { Action } from "../../../api/access.ts";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import { and, everything, nothing, type Predicate } from "../../platform/store/query.ts";
import { readSections } from "../../settings/app-config/rows.ts";
import { allSections } from "../../settings/app-config/sections.ts";
import type { TeamRow } from "../../settings/teams/access.ts";
import { type NoTeamSettings, noTeamSettings } from "../../settings/teams/no-team.ts";

export type HostName = string | number;

export interface SharedRows {
  /** Null if the caller may not write the configuration. */
  readonly sections: ReadonlyMap<string, object> | null;
  readonly teams: readonly TeamRow[];
  /** Null if the caller may not write the settings of hosts without a team. */
  readonly noTeam: NoTeamSettings | null;
  /** Every label, because other objects refer to labels by name. */
  readonly labels: readonly LabelRow[];
}

/** Call this in a transaction, so that all rows are from the same moment. */
export async function readSharedRows(ctx: Context): Promise<SharedRows> {
  const { store } = ctx;
  const hasTeams = isPremium(ctx);
  return {
    sections: mayWriteConfig(ctx) ? await readSections(store, allSections) : null,
    teams: await store.teams.list({ where: hasTeams ? visible(ctx, "teams:edit", "id") : nothing }),
    noTeam: hasTeams && may(ctx.user, "teams:edit", null) ? await noTeamSettings(store) : null,
    labels: await store.labels.list(),
  };
}

export const mayWriteConfig = ({ user }: Context): boolean => may(user, "config:write", null);

/** Rows per read. Reading all at once would block the event loop. */
export const BATCH_SIZE = 1_000;

export async function inPages<R>(pages: AsyncIterable<R[]>): Promise<R[]> {
  const rows: R[] = [];
  for await (const page of pages) {
    rows.push(...page);
    await breathe();
  }
  return rows;
}

/** On the free tier there are no teams and no objects of teams. */
export const ofTier = (ctx: Context, action: Action, global: Predicate): Predicate =>
  and(visible(ctx, action), isPremium(ctx) ? everything : global);

/** The owner of a row: null for hosts without a team; undefined for a team that the caller may not change. */
export const ownersOf = ({
  teams,
}: SharedRows): ((row: { readonly team_id: number | null }) => string | null | undefined) => {
  const names = new Map(teams.map(({ id, name }) => [id, name]));
  return ({ team_id }) => (team_id === null ? null : names.get(team_id));
};
