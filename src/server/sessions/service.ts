import type { Session } from "../../api/sessions.ts";
import { may } from "../core/access.ts";
import type { Context } from "../core/context.ts";
import { forbidden, notFound } from "../core/errors.ts";
import { tokenHash } from "../core/random.ts";
import { and, eq, everything, not, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { sessions } from "./tables.ts";

/** Opens a session for the user and gives its token, which is kept nowhere. */
export async function createSession(
  { store, clock, random }: Pick<Context, "store" | "clock" | "random">,
  userId: number,
): Promise<string> {
  const token = random.token(32);
  const now = clock.iso();
  await store.sessions.insert({ user_id: userId, token_hash: tokenHash(token), created_at: now, accessed_at: now });
  return token;
}

/** Ends the sessions of these users, but the one that is named. */
export async function endSessions(
  { store }: Pick<Context, "store">,
  userIds: readonly number[],
  except = 0,
): Promise<void> {
  const others = except === 0 ? everything : not(eq("id", except));
  await store.sessions.delete(and(oneOf("user_id", userIds), others));
}

export async function logout({ store, user }: Context): Promise<Record<string, never>> {
  await store.sessions.delete(eq("id", user.session_id));
  return {};
}

/** The session, when it is the caller's own or the caller may see any; another's answers like a missing one. */
async function reachable(ctx: Context, id: number): Promise<RowOf<typeof sessions>> {
  const session = await ctx.store.sessions.get(id);
  if (!session || (session.user_id !== ctx.user.id && !may(ctx.user, "sessions:any", null)))
    throw notFound("session", id);
  return session;
}

const view = ({ id, user_id, created_at }: RowOf<typeof sessions>): Session => ({
  session_id: id,
  user_id,
  created_at,
});

export const getSession = async (ctx: Context, id: number): Promise<Session> => view(await reachable(ctx, id));

export async function deleteSession(ctx: Context, id: number): Promise<Record<string, never>> {
  const session = await reachable(ctx, id);
  await ctx.store.sessions.delete(eq("id", session.id));
  return {};
}

async function authorizeUser(ctx: Context, userId: number): Promise<void> {
  if (ctx.user.id === userId) return;
  if (!may(ctx.user, "sessions:any", null)) throw forbidden();
  if (!(await ctx.store.users.get(userId))) throw notFound("user", userId);
}

export async function sessionsOfUser(ctx: Context, userId: number): Promise<{ sessions: Session[] }> {
  await authorizeUser(ctx, userId);
  const rows = await ctx.store.sessions.list({ where: eq("user_id", userId) });
  return { sessions: rows.map(view) };
}

export async function deleteSessionsOfUser(ctx: Context, userId: number): Promise<Record<string, never>> {
  await authorizeUser(ctx, userId);
  await endSessions(ctx, [userId]);
  return {};
}
