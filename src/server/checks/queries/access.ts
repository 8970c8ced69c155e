import type { Action } from "../../../api/access.ts";
import type { Context, Viewer } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { may, mayListGlobal, visible } from "../../platform/core/security/access.ts";
import { isNull, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { queries } from "./tables.ts";

export type QueryRow = RowOf<typeof queries>;

const seesGlobal = (user: Viewer): boolean => mayListGlobal(user, "queries:list");

export const mayRead = (user: Viewer, teamId: number | null): boolean =>
  may(user, "queries:list", teamId) || (teamId === null && seesGlobal(user));

/** Selects the queries that are visible to the caller. */
export const readable = (ctx: Pick<Context, "user">): Predicate =>
  seesGlobal(ctx.user) ? or(isNull("team_id"), visible(ctx, "queries:list")) : visible(ctx, "queries:list");

/** 403 if the query is visible to the caller but the action is not allowed; 404 if it is not visible. */
export function admitToQuery(
  ctx: Pick<Context, "user">,
  action: Action,
  key: number | string,
  query: Pick<QueryRow, "team_id"> | null | undefined,
): void {
  if (!query || !(mayRead(ctx.user, query.team_id) || may(ctx.user, action, query.team_id)))
    throw notFound("query", key);
  if (action !== "queries:list" && !may(ctx.user, action, query.team_id)) throw forbidden();
}

export async function queryFor(ctx: Context, action: Action, id: number): Promise<QueryRow> {
  const query = await ctx.store.queries.get(id);
  admitToQuery(ctx, action, id, query);
  return query!;
}
