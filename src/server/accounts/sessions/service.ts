import type { Session } from "../../../api/accounts/sessions.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { isToken, notByToken } from "../../platform/core/http/token-scope.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { may } from "../../platform/core/security/access.ts";
import { aboutUser, type UserRow } from "../../platform/core/security/viewer.ts";
import { and, eq, everything, not, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { endOf, isOver } from "./lifetime.ts";
import { sessionsChanged } from "./streams.ts";
import type { sessions } from "./tables.ts";

export type SessionRow = RowOf<typeof sessions>;

interface SessionOptions {
  /** Sessions end when they are unused. Tokens are created explicitly and end at `expiresAt`. */
  readonly kind?: "session" | "token";
  readonly name?: string;
  readonly expiresAt?: string | null;
  /** The endpoints to which the token is limited, such as `GET /hosts`. */
  readonly endpoints?: readonly string[] | null;
}

const MAX_USER_AGENT = 255;

/** Opens a session for the user and returns its token, which is not stored. */
export async function createSession(
  ctx: Pick<Context, "store" | "clock" | "random"> & Partial<Pick<Context, "address" | "headers">>,
  userId: number,
  options: SessionOptions = {},
): Promise<string> {
  return (await openSession(ctx, userId, options)).token;
}

/** Opens a session, and returns its token with the stored row. */
export async function openSession(
  ctx: Pick<Context, "store" | "clock" | "random"> & Partial<Pick<Context, "address" | "headers">>,
  userId: number,
  options: SessionOptions = {},
): Promise<{ token: string; row: SessionRow }> {
  const token = ctx.random.token(32);
  const now = ctx.clock.iso();
  const row = await ctx.store.sessions.insert({
    user_id: userId,
    token_hash: tokenHash(token),
    created_at: now,
    accessed_at: now,
    kind: options.kind ?? "session",
    name: options.name ?? "",
    expires_at: options.expiresAt ?? null,
    endpoints: options.endpoints ?? null,
    address: ctx.address ?? "",
    user_agent: (ctx.headers?.get("user-agent") ?? "").slice(0, MAX_USER_AGENT),
  });
  return { token, row };
}

/** Ends the session, or revokes the token. */
export async function endSession(
  { store }: Pick<Context, "store">,
  { id, user_id }: Pick<SessionRow, "id" | "user_id">,
): Promise<void> {
  await store.sessions.delete(eq("id", id));
  await sessionsChanged({ store }, [user_id]);
}

/** Ends the sessions of these users except the given one. Returns the number of ended sessions. */
export async function endSessions(
  { store }: Pick<Context, "store">,
  userIds: readonly number[],
  except = 0,
): Promise<number> {
  const others = except === 0 ? everything : not(eq("id", except));
  const ended = await store.sessions.delete(and(oneOf("user_id", userIds), others));
  await sessionsChanged({ store }, userIds);
  return ended;
}

/**
 * Ends the sessions of users whose roles changed, except the caller's. Permissions are read at every request, so the
 * tokens of API-only users can stay: pipelines continue with their new permissions, and administrators need not
 * distribute new tokens.
 */
export async function endSessionsOfChangedRoles(
  ctx: Pick<Context, "store" | "user">,
  userIds: readonly number[],
): Promise<void> {
  const users = await ctx.store.users.getMany(userIds);
  const people = users.filter(({ api_only }) => !api_only).map(({ id }) => id);
  await endSessions(ctx, people, ctx.user.session_id);
}

export async function logout({ store, user }: Context): Promise<Record<string, never>> {
  await store.tx(async (tx) => {
    await endSession({ store: tx }, { id: user.session_id, user_id: user.id });
  });
  return {};
}

/**
 * The session, if it is the caller's own or the caller may see all sessions. Otherwise 404, like for a missing one.
 */
async function reachable(ctx: Context, id: number): Promise<SessionRow> {
  const session = await ctx.store.sessions.get(id);
  if (!session || (session.user_id !== ctx.user.id && !may(ctx.user, "sessions:any", null)))
    throw notFound("session", id);
  return session;
}

function view(ctx: Context, rows: readonly SessionRow[], apiOnly: boolean): Session[] {
  return rows
    .filter((row) => !isOver(ctx, row, apiOnly))
    .map((row) => {
      const end = endOf(ctx.settings, row, apiOnly);
      return {
        session_id: row.id,
        user_id: row.user_id,
        created_at: row.created_at,
        kind: row.kind,
        name: row.name,
        accessed_at: row.accessed_at,
        expires_at: end === null ? null : isoAt(end),
        address: row.address,
        user_agent: row.user_agent,
        current: row.id === ctx.user.session_id,
      };
    });
}

export async function getSession(ctx: Context, id: number): Promise<Session> {
  const row = await reachable(ctx, id);
  const user = await ctx.store.users.get(row.user_id);
  const [session] = view(ctx, [row], user?.api_only ?? false);
  if (!session) throw notFound("session", id);
  return session;
}

/**
 * An API token can end itself and, for admins, sessions of other users, but no other sessions and tokens of its own
 * user.
 */
function mayEnd(ctx: Context, userId: number, id: number | null): void {
  if (isToken(ctx.user) && userId === ctx.user.id && id !== ctx.user.session_id) throw notByToken();
}

export async function deleteSession(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const session = await reachable(inside, id);
      mayEnd(ctx, session.user_id, id);
      const user = await store.users.get(session.user_id);
      if (session.kind === "token" && user) await recordTokenEnd(inside, user, session);
      else if (user) await recordActivity(inside, "ended_user_sessions", { ...aboutUser(user), sessions_count: 1 });
      await endSession(inside, session);
    },
    { lock: "users" },
  );
  return {};
}

export const aboutToken = (user: UserRow, { id, name }: SessionRow) => ({
  token_id: id,
  token_name: name,
  ...aboutUser(user),
});

export const recordTokenEnd = (ctx: Context, user: UserRow, token: SessionRow): Promise<number> =>
  recordActivity(ctx, "deleted_api_token", aboutToken(user, token));

async function authorizeUser(ctx: Context, userId: number): Promise<void> {
  if (ctx.user.id === userId) return;
  if (!may(ctx.user, "sessions:any", null)) throw forbidden();
  if (!(await ctx.store.users.get(userId))) throw notFound("user", userId);
}

export async function sessionsOfUser(ctx: Context, userId: number): Promise<{ sessions: Session[] }> {
  await authorizeUser(ctx, userId);
  const user = await ctx.store.users.get(userId);
  const rows = await ctx.store.sessions.list({ where: eq("user_id", userId) });
  return { sessions: view(ctx, rows, user?.api_only ?? false) };
}

export async function deleteSessionsOfUser(ctx: Context, userId: number): Promise<Record<string, never>> {
  await authorizeUser(ctx, userId);
  mayEnd(ctx, userId, null);
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const sessions_count = await endSessions(inside, [userId]);
      const user = await store.users.get(userId);
      if (user && sessions_count > 0)
        await recordActivity(inside, "ended_user_sessions", { ...aboutUser(user), sessions_count });
    },
    { lock: "users" },
  );
  return {};
}
