// Who may read and write a view.
import type { Sharing } from "../../../api/settings/views.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import { and, eq, everything, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { knowsTeam } from "../teams/access.ts";
import type { views } from "./tables.ts";

export type ViewRow = RowOf<typeof views>;
/** For whom a view is. */
export type ViewPlace = Pick<ViewRow, "shared" | "owner_id" | "team_id">;

export const placeOf = (ctx: Pick<Context, "user">, shared: Sharing, teamId: number | null): ViewPlace => ({
  shared,
  owner_id: shared === "me" ? ctx.user.id : null,
  team_id: shared === "team" ? teamId : null,
});

export const inViewPlace = ({ shared, owner_id, team_id }: ViewPlace): Predicate =>
  shared === "me" ? eq("owner_id", owner_id) : shared === "team" ? eq("team_id", team_id) : eq("shared", "everyone");

export function readableViews({ user }: Pick<Context, "user">): Predicate {
  const ofTeams =
    user.kind === "service" || user.global_role !== null
      ? eq("shared", "team")
      : oneOf(
          "team_id",
          user.teams.map(({ id }) => id),
        );
  return or(and(eq("shared", "me"), eq("owner_id", user.id)), eq("shared", "everyone"), ofTeams);
}

/** Views that are offered while one team is selected. 0: hosts without a team, which share none. */
export const viewsBeside = (teamId: number | undefined): Predicate =>
  teamId === undefined ? everything : or(oneOf("shared", ["me", "everyone"]), eq("team_id", teamId));

export const readsView = (ctx: Context, { shared, owner_id, team_id }: ViewPlace): boolean =>
  shared === "me" ? owner_id === ctx.user.id : shared === "everyone" || knowsTeam(ctx, team_id!);

const writes = ({ user }: Context, { shared, owner_id, team_id }: ViewPlace): boolean =>
  shared === "me" ? owner_id === user.id : may(user, "views:share", team_id);

export function checkWrites(ctx: Context, place: ViewPlace): void {
  if (!writes(ctx, place)) throw forbidden();
}

/** A view that the caller may not read is answered like a missing one. */
export async function viewFor(ctx: Context, id: number, action: "read" | "write"): Promise<ViewRow> {
  const view = await ctx.store.views.get(id);
  if (!view || !readsView(ctx, view)) throw notFound("view", id);
  if (action === "write") checkWrites(ctx, view);
  return view;
}
