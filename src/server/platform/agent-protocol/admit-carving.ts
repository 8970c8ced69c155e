// Restricts SQL that makes hosts upload files to users who may start carves.

import type { Context } from "../core/context.ts";
import { forbidden, forbiddenFor } from "../core/errors.ts";
import { may, visible } from "../core/security/access.ts";
import { and, not, type Predicate } from "../store/query.ts";
import { isCarving } from "./carving-sql.ts";

/** 403 if the SQL can start a carve on a target host on which the caller may not start carves. */
export async function admitCarving(ctx: Context, sql: string, targets: Predicate): Promise<void> {
  if (!isCarving(sql)) return;
  const outside = await ctx.store.hosts.first({ where: and(targets, not(visible(ctx, "carves:start"))) });
  if (outside) throw forbidden();
}

/**
 * For saved SQL that hosts of the team run repeatedly (null: all hosts, or those without a team): 403 if it can start a
 * carve and the caller may not start one there. `what` names it in the error: `the query "Users"`.
 */
export function admitKeptSql({ user }: Pick<Context, "user">, sql: string, teamId: number | null, what: string): void {
  if (!isCarving(sql) || may(user, "carves:start", teamId)) return;
  const where = teamId === null ? "on every host" : "on the hosts of this team";
  throw forbiddenFor(
    `${what} can start file carves (the table carves, or the function carve), which requires a role that may start them ${where}`,
  );
}
