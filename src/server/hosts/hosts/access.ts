import type { Action } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { hosts } from "./tables.ts";

export type HostRow = RowOf<typeof hosts>;

type HostPlace = Pick<HostRow, "team_id"> | null | undefined;

/** Whether the caller may learn that the host exists. */
export const knowsOf = ({ user }: Pick<Context, "user">, host: HostPlace): boolean =>
  !!host &&
  (["hosts:read", "hosts:identify", "hosts:delete", "hosts:transfer", "hosts:lock"] as const).some((action) =>
    may(user, action, host.team_id),
  );

/**
 * 403 if the caller may see the host but not do this. A host of a team that the caller cannot see is answered like a
 * missing one.
 */
export function admitToHost(
  ctx: Pick<Context, "user">,
  action: Action,
  id: number,
  host: Pick<HostRow, "team_id"> | null | undefined,
): void {
  if (host && may(ctx.user, action, host.team_id)) return;
  if (host && (may(ctx.user, "hosts:read", host.team_id) || may(ctx.user, "hosts:identify", host.team_id)))
    throw forbidden();
  throw notFound("host", id);
}

export async function hostFor(ctx: Context, action: Action, id: number): Promise<HostRow> {
  const host = await ctx.store.hosts.get(id);
  admitToHost(ctx, action, id, host);
  return host!;
}
