// What self-service asks of the features by which teams offer titles: as packages, or as store apps.
import type { Action } from "../../api/access.ts";
import type { Context } from "../core/context.ts";
import { notFound } from "../core/errors.ts";
import { authorize } from "../core/security/access.ts";
import type { ServerTx } from "../core/tables.ts";
import type { Predicate } from "../store/query.ts";

export interface OfferTeam {
  readonly team_id: number | null;
  readonly team_name: string | null;
}

interface InCategories {
  readonly id: number;
  readonly team_id: number | null;
  readonly categories: readonly string[];
}

/** One way in which teams offer titles. */
export interface TitleOffers {
  inCategories(store: ServerTx, where: Predicate): Promise<readonly InCategories[]>;
  /** In the caller's transaction. */
  setCategories(store: ServerTx, rows: readonly Pick<InCategories, "id" | "categories">[]): Promise<void>;
  /** Records that the title has another icon, in the caller's transaction. False: the team does not offer it so. */
  iconChanged(inside: Context, team: OfferTeam, titleId: number): Promise<boolean>;
  /** The address of the store's icon; null: there is none. */
  storeIcon(store: ServerTx, teamId: number | null, titleId: number): Promise<string | null>;
}

declare module "../core/extensions.ts" {
  interface Extensions {
    readonly titleOffers: readonly TitleOffers[];
  }
}

/** 0, null and undefined: hosts without a team. */
export async function offerTeam(ctx: Context, action: Action, teamId: number | null | undefined): Promise<OfferTeam> {
  const team_id = teamId || null;
  authorize(ctx, action, team_id);
  if (team_id === null) return { team_id, team_name: null };
  const team = await ctx.store.teams.get(team_id);
  if (!team) throw notFound("team", team_id, "team_id");
  return { team_id, team_name: team.name };
}
