// Decides in whose name a task runs.
import { isDeepStrictEqual } from "node:util";
import { type Context, service } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { viewerOf } from "../core/security/viewer.ts";
import type { TaskRow } from "./view.ts";

export const REQUESTER_GONE = "the user who asked for it is gone, or has to change the password first";

/** A context of this user with its current roles. Null if the user was deleted or may not act. */
export async function contextOf(ctx: Context, userId: number | null): Promise<Context | null> {
  const user = userId === null ? null : await ctx.store.users.get(userId);
  if (!user || user.force_password_reset) return null;
  return { ...detached(ctx), user: await viewerOf(ctx.store, user, null) };
}

/** A context in the name of the server, independent of whoever called. */
export const asService = (ctx: Context, { id }: Pick<TaskRow, "id">): Context => ({
  ...detached(ctx),
  user: service,
  requestId: `task-${id}`,
});

/** The context in which the task runs. */
export async function requesterOf(
  service: Context,
  row: Pick<TaskRow, "requested_by" | "requester_email">,
): Promise<Context> {
  if (row.requester_email === "") return service;
  const requester = await contextOf(service, row.requested_by);
  if (!requester) throw badRequest(REQUESTER_GONE);
  return requester;
}

/** Whether nothing has changed of what decides what the user may do. */
export const hasSameRoles = (before: Context, now: Context): boolean => isDeepStrictEqual(before.user, now.user);

/** The context without what belongs to the caller: its address must not be recorded for another user. */
function detached({ headers: _headers, host: _host, ...rest }: Context): Context {
  return { ...rest, address: "" };
}
