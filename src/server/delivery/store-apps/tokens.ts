// The tokens with which the server assigns licenses, and the teams whose apps they license.

import type { VppToken } from "../../../api/delivery/vpp.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { type Context, type Services, within } from "../../platform/core/context.ts";
import { ApiError, conflict, invalid, notFound, notThere } from "../../platform/core/errors.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, everything, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { dropIconOf } from "../../software/self-service/icon-rows.ts";
import { accountColumns, readLibrary, readListings, writeLibrary } from "./library.ts";
import {
  type LicenseAccount,
  type LicenseAsset,
  LicenseServiceError,
  licenseClient,
  platformsOf,
} from "./license-client.ts";
import { LookupError } from "./store-lookup.ts";
import { EVERY_TEAM, NO_TEAM, type VppTokenRow } from "./tables.ts";
import { BadTokenFile, type LicenseToken, readTokenFile } from "./token-file.ts";

/** Lock under which the teams of tokens change. */
export const VPP_TEAMS_LOCK_OPTIONS = { lock: "vpp-token-teams" } as const;

function readToken(ctx: Context, file: Buffer): LicenseToken {
  try {
    const token = readTokenFile(file);
    if (token.expiresAt <= ctx.clock.now()) throw invalid("token", "the token has expired");
    return token;
  } catch (error) {
    if (error instanceof BadTokenFile) throw invalid("token", error.message);
    throw error;
  }
}

export const clientOf = (
  services: Pick<Services, "running" | "dryRun" | "settings">,
  row: Pick<VppTokenRow, "token">,
) => licenseClient(services, row.token);

/** Asks the service whose token it is, and what it licenses: a token that does not work is refused. */
async function readAccount(
  ctx: Context,
  token: LicenseToken,
): Promise<{ account: LicenseAccount; assets: LicenseAsset[] }> {
  const client = licenseClient(ctx, token.token);
  try {
    return { account: await client.account(), assets: await readLibrary(client) };
  } catch (error) {
    if (error instanceof LicenseServiceError) throw invalid("token", error.message);
    throw error;
  }
}

const columnsOf = ({ token, orgName, expiresAt }: LicenseToken, account: LicenseAccount, now: string) => ({
  ...accountColumns(account),
  token,
  org_name: orgName,
  renew_date: isoAt(expiresAt),
  terms_expired: false,
  token_invalid: false,
  synced_at: now,
  sync_error: "",
});

/** Names and icons are looked up again by the job, if the store cannot be reached now. */
async function tryListings(ctx: Context, assets: readonly LicenseAsset[], country_code: string): Promise<void> {
  const platforms = assets.map((asset) => ({ adam_id: asset.adamId, platforms: platformsOf(asset) }));
  try {
    await readListings(ctx, platforms, { country_code });
  } catch (error) {
    if (!(error instanceof LookupError)) throw error;
    ctx.log.warn({ problem: error.message }, "names of licensed apps could not be looked up");
  }
}

export async function addToken(ctx: Context, file: Buffer): Promise<{ vpp_token: VppToken }> {
  const token = readToken(ctx, file);
  const { account, assets } = await readAccount(ctx, token);
  await tryListings(ctx, assets, account.countryISO2ACode);
  const row = await ctx.store.tx(async (store) => {
    const existing = await store.vppTokens.first({ where: eq("library_id", account.uId) });
    if (existing)
      throw conflict(`a token of ${account.locationName} is there already: renew token ${existing.id} instead`);
    const created_at = ctx.clock.iso();
    const added = await store.vppTokens.insert({ created_at, ...columnsOf(token, account, created_at) });
    await writeLibrary(store, added.id, assets);
    await recordActivity(within(ctx, store), "enabled_vpp", { location: added.location });
    return added;
  });
  return { vpp_token: await viewOne(ctx, row) };
}

export async function renewToken(ctx: Context, id: number, file: Buffer): Promise<{ vpp_token: VppToken }> {
  const token = readToken(ctx, file);
  const old = await tokenRow(ctx, id);
  const { account, assets } = await readAccount(ctx, token);
  if (account.uId !== old.library_id) throw invalid("token", "the token is for another location: add it as a new one");
  await tryListings(ctx, assets, account.countryISO2ACode);
  await ctx.store.tx(async (store) => {
    await store.vppTokens.update({ where: eq("id", id), set: columnsOf(token, account, ctx.clock.iso()) });
    await writeLibrary(store, id, assets);
    await recordActivity(within(ctx, store), "renewed_vpp", { location: account.locationName });
  });
  return { vpp_token: await viewOne(ctx, await tokenRow(ctx, id)) };
}

/** Undefined: all teams. 0 stands for hosts without a team, as elsewhere in the API. */
export async function setTokenTeams(
  ctx: Context,
  id: number,
  teamIds: readonly number[] | undefined,
): Promise<{ vpp_token: VppToken }> {
  await ctx.store.tx(async (store) => {
    const token = await tokenRow({ store }, id);
    const scopes = teamIds === undefined ? [EVERY_TEAM] : [...new Set(teamIds)];
    await requireTeams(store, scopes);
    await exchangeTeams(within(ctx, store), [{ token, scopes }]);
  }, VPP_TEAMS_LOCK_OPTIONS);
  return { vpp_token: await viewOne(ctx, await tokenRow(ctx, id)) };
}

interface TokenScopes {
  readonly token: VppTokenRow;
  /** Ids of teams that exist, `NO_TEAM`, or only `EVERY_TEAM`. */
  readonly scopes: readonly number[];
}

/** Tokens give up teams before others get them, so that teams can change their token. Call it under `VPP_TEAMS_LOCK_OPTIONS`. */
export async function exchangeTeams(inside: Context, changes: readonly TokenScopes[]): Promise<void> {
  const { store } = inside;
  for (const { token, scopes } of changes) {
    const before = await store.vppTokenTeams.list({ where: eq("token_id", token.id) });
    const gone = before.filter(({ scope }) => !scopes.includes(scope));
    await store.vppTokenTeams.delete(
      oneOf(
        "id",
        gone.map((row) => row.id),
      ),
    );
    await dropApps(store, and(eq("token_id", token.id), not(ofScopes(scopes))));
  }
  for (const { token, scopes } of changes) {
    await requireFree(store, token.id, scopes);
    const had = new Set(
      (await store.vppTokenTeams.list({ where: eq("token_id", token.id) })).map(({ scope }) => scope),
    );
    await store.vppTokenTeams.insertMany(
      scopes
        .filter((scope) => !had.has(scope))
        .map((scope) => ({ token_id: token.id, scope, team_id: scope > NO_TEAM ? scope : null })),
    );
    await recordActivity(inside, "edited_vpp_teams", { location: token.location });
  }
}

async function dropApps(store: ServerTx, where: Predicate): Promise<void> {
  for (const { team_id, title_id } of await store.storeApps.pick(["team_id", "title_id"], { where }))
    await dropIconOf(store, team_id, title_id);
  await store.storeApps.delete(where);
}

/** The rows of teams that a token licenses. */
const ofScopes = (scopes: readonly number[]): Predicate =>
  scopes.includes(EVERY_TEAM) ? everything : or(...scopes.map((scope) => inTeam(scope)));

async function requireTeams(store: ServerTx, scopes: readonly number[]): Promise<void> {
  const teamIds = scopes.filter((scope) => scope > NO_TEAM);
  const teams = await teamNames(store, teamIds);
  const missing = teamIds.find((id) => !teams.has(id));
  if (missing !== undefined)
    throw new ApiError(404, "Resource Not Found", [
      { name: "team_ids", reason: `team ${missing} was not found in the datastore` },
    ]);
}

/** Two tokens for a team would leave open whose licenses its hosts get. */
async function requireFree(store: ServerTx, id: number, scopes: readonly number[]): Promise<void> {
  const taken = (await store.vppTokenTeams.list()).filter(({ token_id }) => token_id !== id);
  const clash = taken.find(
    ({ scope }) => scope === EVERY_TEAM || scopes.includes(scope) || scopes.includes(EVERY_TEAM),
  );
  if (!clash || scopes.length === 0) return;
  const { location } = await tokenRow({ store }, clash.token_id);
  const team = clash.scope > NO_TEAM ? await store.teams.get(clash.scope) : null;
  const whose = clash.scope === EVERY_TEAM ? "all teams have" : `${team?.name ?? "no team"} has`;
  throw conflict(`${whose} the token of ${location} already`);
}

export async function deleteToken(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(async (store) => {
    const token = await tokenRow({ store }, id);
    await dropApps(store, eq("token_id", id));
    await store.vppTokens.delete(eq("id", id));
    await recordActivity(within(ctx, store), "disabled_vpp", { location: token.location });
  });
  return {};
}

/** For clients that know of one token only. */
export async function deleteOnlyToken(ctx: Context): Promise<Record<string, never>> {
  const [first, ...others] = await ctx.store.vppTokens.list({ limit: 2 });
  if (!first) throw notThere("there is no token of the license program");
  if (others.length > 0) throw conflict("there are several tokens: delete them by their ids");
  return deleteToken(ctx, first.id);
}

async function tokenRow({ store }: Pick<Context, "store">, id: number): Promise<VppTokenRow> {
  const row = await store.vppTokens.get(id);
  if (!row) throw notFound("token", id);
  return row;
}

/** The token that licenses the team's apps; null: it has none. */
export async function tokenOfTeam(store: ServerTx, teamId: number | null): Promise<VppTokenRow | null> {
  const assignment = await store.vppTokenTeams.first({ where: oneOf("scope", [teamId ?? NO_TEAM, EVERY_TEAM]) });
  return assignment ? store.vppTokens.get(assignment.token_id) : null;
}

export async function listTokens(ctx: Context): Promise<{ vpp_tokens: VppToken[] }> {
  return { vpp_tokens: await views(ctx, await ctx.store.vppTokens.list()) };
}

async function views({ store }: Context, rows: readonly VppTokenRow[]): Promise<VppToken[]> {
  const ids = rows.map(({ id }) => id);
  const scopes = groupBy(await store.vppTokenTeams.list({ where: oneOf("token_id", ids) }), ({ token_id }) => token_id);
  const teamIds = [...scopes.values()].flat().flatMap(({ team_id }) => team_id ?? []);
  const teams = await teamNames(store, teamIds);
  const teamsOf = (id: number): VppToken["teams"] => {
    const ofToken = scopes.get(id) ?? [];
    if (ofToken.length === 0) return null;
    return ofToken
      .filter(({ scope }) => scope !== EVERY_TEAM)
      .map(({ scope }) => ({ team_id: scope, name: scope === NO_TEAM ? "No team" : (teams.get(scope) ?? "") }));
  };
  return rows.map((row) => ({
    id: row.id,
    org_name: row.org_name,
    location: row.location,
    country_code: row.country_code,
    renew_date: row.renew_date,
    terms_expired: row.terms_expired,
    teams: teamsOf(row.id),
  }));
}

const viewOne = async (ctx: Context, row: VppTokenRow): Promise<VppToken> => (await views(ctx, [row]))[0]!;
