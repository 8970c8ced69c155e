// Who may see and change which scripts.
import type { Action } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { scripts } from "./tables.ts";

export type ScriptRow = RowOf<typeof scripts>;

/** A script of a team that the caller cannot see is answered like a missing one. */
export async function scriptFor(ctx: Context, action: Action, id: number, field?: string): Promise<ScriptRow> {
  const script = await ctx.store.scripts.get(id);
  if (script && may(ctx.user, action, script.team_id)) return script;
  if (script && may(ctx.user, "scripts:read", script.team_id)) throw forbidden();
  throw notFound("script", id, field);
}
