// Named API tokens. They are rows of `sessions`, so everything that ends a user's sessions ends them too.
import type { z } from "zod";
import type { ApiToken, CreateToken, tokensApi } from "../../../api/accounts/tokens.ts";
import { allEndpoints } from "../../../api/all.ts";
import { cleanPattern, namesEndpoint } from "../../../api/endpoint-patterns.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { readDuration } from "../../platform/core/duration.ts";
import { ApiError, alreadyExists, conflict, forbidden, invalid, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { isToken, notByToken } from "../../platform/core/http/token-scope.ts";
import type { UserRow } from "../../platform/core/security/viewer.ts";
import { and, eq } from "../../platform/store/query.ts";
import { deleteExpired } from "../sessions/expired.ts";
import { isUnused, liveToken } from "../sessions/lifetime.ts";
import { aboutToken, endSession, openSession, recordTokenEnd, type SessionRow } from "../sessions/service.ts";
import { managedAccount, manages, visibleAccount } from "../users/access.ts";

const DEFAULT_LIFETIME = days(90);
const MAX_LIFETIME = days(2 * 365);
const MAX_TOKENS = 100;

export async function listTokens(ctx: Context, query: z.output<(typeof tokensApi)["list"]["query"]>) {
  const user = await owner(ctx, query.user_id);
  const { rows, meta } = await page(ctx.store.sessions, query, and(eq("user_id", user.id), liveToken(ctx.clock)));
  return { tokens: rows.map(view), meta };
}

export async function createToken(ctx: Context, input: CreateToken): Promise<ApiToken & { token: string }> {
  if (isToken(ctx.user)) throw notByToken();
  const expiresAt = endOf(ctx, input);
  const endpoints = input.endpoints === undefined ? null : checkEndpoints(input.endpoints);
  return ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const user = await owner(inside, input.user_id);
      if (user.id !== ctx.user.id && !user.api_only)
        throw invalid("user_id", "tokens for other users can be created only if they are API-only users");
      await checkRoom(inside, user, input.name);
      const { token, row } = await openSession(inside, user.id, {
        kind: "token",
        name: input.name,
        expiresAt,
        endpoints,
      });
      await recordActivity(inside, "created_api_token", aboutToken(user, row));
      return { ...view(row), token };
    },
    { lock: "users" },
  );
}

export async function deleteToken(ctx: Context, id: number): Promise<Record<string, never>> {
  if (isToken(ctx.user)) throw notByToken();
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const row = await store.sessions.get(id);
      if (row?.kind !== "token") throw notFound("token", id);
      // Tokens of accounts that the caller cannot see are answered like missing ones.
      const account = await visibleAccount(inside, row.user_id).catch((error: unknown) => {
        if (error instanceof ApiError) return null;
        throw error;
      });
      if (!account || (row.user_id !== ctx.user.id && !manages(inside, account))) throw notFound("token", id);
      await endSession(inside, row);
      await recordTokenEnd(inside, account.user, row);
    },
    { lock: "users" },
  );
  return {};
}

/** The caller's own account, or one that the caller manages. */
async function owner(ctx: Context, userId: number | undefined): Promise<UserRow> {
  if (userId !== undefined && userId !== ctx.user.id) return (await managedAccount(ctx, userId)).user;
  const user = await ctx.store.users.get(ctx.user.id);
  if (!user) throw forbidden();
  return user;
}

function endOf({ clock }: Context, input: CreateToken): string {
  if (input.expires_at !== undefined && input.expires_in !== undefined)
    throw invalid("expires_in", "cannot be given together with expires_at");
  const field = input.expires_at === undefined ? "expires_in" : "expires_at";
  const now = clock.now();
  const end = input.expires_at === undefined ? now + lifetime(input.expires_in) : Date.parse(input.expires_at);
  if (end <= now) throw invalid(field, "must be in the future");
  if (end > now + MAX_LIFETIME) throw invalid(field, "must be at most two years from now");
  return isoAt(end);
}

function lifetime(input: CreateToken["expires_in"]): number {
  if (input === undefined) return DEFAULT_LIFETIME;
  const milliseconds = readDuration(String(input));
  if (milliseconds === null) throw invalid("expires_in", "must be a duration such as 12h or 30d");
  return milliseconds;
}

function checkEndpoints(input: readonly string[]): string[] {
  const patterns = [...new Set(input.map(cleanPattern))];
  for (const [i, pattern] of patterns.entries())
    if (!allEndpoints.some(({ endpoint }) => namesEndpoint(pattern, endpoint)))
      throw invalid(
        `endpoints.${i}`,
        `${pattern} names no endpoint; examples: GET /hosts, GET /hosts/:id, POST /spec/*`,
      );
  return patterns;
}

/** Activities identify tokens by name, so the names of a user's tokens must be unique. */
async function checkRoom(ctx: Context, user: UserRow, name: string): Promise<void> {
  const { store } = ctx;
  const ofUser = and(eq("user_id", user.id), eq("kind", "token"));
  await deleteExpired(ctx, ofUser);
  if ((await store.sessions.count(and(ofUser, eq("name", name)))) > 0)
    throw alreadyExists(`a token with the name ${name} exists`);
  if ((await store.sessions.count(ofUser)) >= MAX_TOKENS) throw conflict(`a user has at most ${MAX_TOKENS} API tokens`);
}

const view = (row: SessionRow): ApiToken => ({
  id: row.id,
  user_id: row.user_id,
  name: row.name,
  created_at: row.created_at,
  accessed_at: isUnused(row) ? null : row.accessed_at,
  expires_at: row.expires_at!,
  endpoints: row.endpoints === null ? null : [...row.endpoints],
  address: row.address,
});
