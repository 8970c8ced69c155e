// SQL that makes hosts send files is not for everybody who may run SQL.
import { visible } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { forbidden } from "../core/errors.ts";
import { and, not, type Predicate } from "../store/query.ts";

/** Naming the table is enough: the column that orders a carve can be called otherwise in a subquery. */
const CARVES = /\bcarves\b|\bcarve\s*\(/i;

export const isCarving = (sql: string): boolean => CARVES.test(sql);

/** 403 when the SQL can start a carve on a host on which the caller may not. */
export async function admitCarving(ctx: Context, sql: string, targets: Predicate): Promise<void> {
  if (!isCarving(sql)) return;
  const outside = await ctx.store.hosts.first({ where: and(targets, not(visible(ctx, "carves:start"))) });
  if (outside) throw forbidden();
}
