// The tokens that give access to an organization's devices in the business portal, and the key to which they are
// encrypted.

import { createPrivateKey } from "node:crypto";
import type { AbmToken } from "../../../../api/devices/abm.ts";
import { readCertificate } from "../../../../pki/x509.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { days, isoAt } from "../../../platform/core/clock.ts";
import { type Context, type Services, within } from "../../../platform/core/context.ts";
import { ApiError, conflict, invalid, notFound } from "../../../platform/core/errors.ts";
import { linkTo } from "../../../platform/core/http/links.ts";
import { eq } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { teamNames } from "../../../settings/teams/reads.ts";
import { type PortalAccount, PortalClient, PortalError } from "./client.ts";
import type { OauthCredentials } from "./oauth.ts";
import type { abmTokens, portalKeys } from "./tables.ts";
import { BadTokenFile, type PortalToken, readTokenFile } from "./token-file.ts";

export type AbmTokenRow = RowOf<typeof abmTokens>;
type KeyRow = RowOf<typeof portalKeys>;

const NAME = "portal";
/** The portal checks no dates of the certificate; only its key matters. */
const KEY_LIFETIME = days(3650);

async function portalKey({ store, clock }: Pick<Context, "store" | "clock">): Promise<KeyRow> {
  const existing = await store.portalKeys.first({ where: eq("name", NAME) });
  if (existing) return existing;
  const { generate } = await import("selfsigned");
  const generated = await generate([{ name: "commonName", value: "svc" }], {
    keySize: 2048,
    algorithm: "sha256",
    notBeforeDate: new Date(clock.now() - days(1)),
    notAfterDate: new Date(clock.now() + KEY_LIFETIME),
  });
  // If another server was faster, its key is kept.
  const [row] = await store.portalKeys.upsert(
    [{ name: NAME, created_at: clock.iso(), certificate: generated.cert, private_key: generated.private }],
    { on: ["name"], set: [] },
  );
  return row!;
}

/** The certificate to upload to the portal, as base64 of PEM. */
export async function publicKey(ctx: Context): Promise<{ public_key: string }> {
  const { certificate } = await portalKey(ctx);
  return { public_key: Buffer.from(certificate).toString("base64") };
}

async function readToken(ctx: Context, file: Buffer): Promise<PortalToken> {
  const { certificate, private_key } = await portalKey(ctx);
  const der = Buffer.from(certificate.replace(/-----[^-]+-----|\s+/g, ""), "base64");
  try {
    return readTokenFile(file, readCertificate(der), createPrivateKey(private_key));
  } catch (error) {
    if (error instanceof BadTokenFile) throw invalid("token", error.message);
    throw error;
  }
}

const credentialsOf = ({ credentials }: Pick<AbmTokenRow, "credentials">): OauthCredentials => JSON.parse(credentials);

export const clientOf = (
  services: Pick<Services, "running" | "dryRun" | "settings" | "clock" | "random">,
  row: Pick<AbmTokenRow, "credentials">,
): PortalClient => new PortalClient(services, credentialsOf(row));

/** Asks the portal whose token it is: a token that does not work is refused. */
async function accountOf(ctx: Context, token: PortalToken): Promise<PortalAccount> {
  if (Date.parse(token.access_token_expiry) <= ctx.clock.now()) throw invalid("token", "the token has expired");
  try {
    return await new PortalClient(ctx, token).account();
  } catch (error) {
    if (error instanceof PortalError) throw invalid("token", error.message);
    throw error;
  }
}

const columnsOf = (token: PortalToken, account: PortalAccount) => ({
  vendora_id: account.admin_id,
  org_name: account.org_name,
  server_uuid: account.server_uuid,
  credentials: JSON.stringify({
    consumer_key: token.consumer_key,
    consumer_secret: token.consumer_secret,
    access_token: token.access_token,
    access_secret: token.access_secret,
  }),
  renew_date: isoAt(Date.parse(token.access_token_expiry)),
  terms_expired: false,
  token_invalid: false,
  sync_error: "",
});

/** For the activity feed. */
export const detailsOf = ({ id, org_name }: Pick<AbmTokenRow, "id" | "org_name">) => ({ abm_token_id: id, org_name });

export async function addToken(ctx: Context, file: Buffer): Promise<{ abm_token: AbmToken }> {
  const token = await readToken(ctx, file);
  const account = await accountOf(ctx, token);
  const row = await ctx.store.tx(async (store) => {
    const existing = await store.abmTokens.first({ where: eq("server_uuid", account.server_uuid) });
    if (existing) throw conflict(`a token of ${account.org_name} is there already: renew token ${existing.id} instead`);
    const added = await store.abmTokens.insert({ created_at: ctx.clock.iso(), ...columnsOf(token, account) });
    await recordActivity(within(ctx, store), "added_abm_token", detailsOf(added));
    return added;
  });
  return { abm_token: await viewOne(ctx, row) };
}

export async function renewToken(ctx: Context, id: number, file: Buffer): Promise<{ abm_token: AbmToken }> {
  const token = await readToken(ctx, file);
  const old = await tokenRow(ctx, id);
  const account = await accountOf(ctx, token);
  if (account.server_uuid !== old.server_uuid)
    throw invalid("token", "the token is for another server in the portal: add it as a new one");
  await ctx.store.tx(async (store) => {
    await store.abmTokens.update({ where: eq("id", id), set: columnsOf(token, account) });
    await recordActivity(within(ctx, store), "renewed_abm_token", detailsOf(old));
  });
  return { abm_token: await viewOne(ctx, await tokenRow(ctx, id)) };
}

export const teamColumns = ["macos_team_id", "ios_team_id", "ipados_team_id", "byod_team_id"] as const;
type TokenTeams = Partial<Record<(typeof teamColumns)[number], number | null>>;

/** Sets all teams; absent means no team. */
export async function setTokenTeams(ctx: Context, id: number, change: TokenTeams): Promise<{ abm_token: AbmToken }> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const token = await tokenRow(inside, id);
    const set: Record<string, number | null> = {};
    for (const column of teamColumns) {
      // 0 stands for no team, as elsewhere in the API.
      const teamId = change[column] || null;
      if (teamId !== null && (await store.teams.get(teamId)) === null)
        throw new ApiError(404, "Resource Not Found", [
          { name: column, reason: `team ${teamId} was not found in the datastore` },
        ]);
      set[column] = teamId;
    }
    await keepTokenTeams(inside, token, set as WholeTeams);
  });
  return { abm_token: await viewOne(ctx, await tokenRow(ctx, id)) };
}

export type WholeTeams = Readonly<Record<(typeof teamColumns)[number], number | null>>;

/** The teams must exist. */
export async function keepTokenTeams(inside: Context, token: AbmTokenRow, teams: WholeTeams): Promise<void> {
  await inside.store.abmTokens.update({ where: eq("id", token.id), set: teams });
  await recordActivity(inside, "edited_abm_token_teams", detailsOf(token));
}

export async function tokenRow({ store }: Pick<Context, "store">, id: number): Promise<AbmTokenRow> {
  const row = await store.abmTokens.get(id);
  if (!row) throw notFound("token", id);
  return row;
}

export async function listTokens(ctx: Context): Promise<{ abm_tokens: AbmToken[] }> {
  return { abm_tokens: await views(ctx, await ctx.store.abmTokens.list()) };
}

export const countTokens = async ({ store }: Context): Promise<{ count: number }> => ({
  count: await store.abmTokens.count(),
});

async function views(ctx: Context, rows: readonly AbmTokenRow[]): Promise<AbmToken[]> {
  const ids = rows.flatMap((row) => teamColumns.flatMap((column) => row[column] ?? []));
  const teams = await teamNames(ctx.store, ids);
  const url = await linkTo(ctx, "");
  const team = (id: number | null) => {
    const name = id === null ? undefined : teams.get(id);
    return id === null || name === undefined ? null : { id, name };
  };
  return rows.map((row) => ({
    id: row.id,
    vendora_id: row.vendora_id,
    org_name: row.org_name,
    mdm_server_url: url,
    renew_date: row.renew_date,
    terms_expired: row.terms_expired,
    token_invalid: row.token_invalid,
    macos_team: team(row.macos_team_id),
    ios_team: team(row.ios_team_id),
    ipados_team: team(row.ipados_team_id),
    byod_team: team(row.byod_team_id),
  }));
}

const viewOne = async (ctx: Context, row: AbmTokenRow): Promise<AbmToken> => (await views(ctx, [row]))[0]!;

/** The oldest token, in the form of the older endpoint. */
export async function businessManager(ctx: Context) {
  const row = await ctx.store.abmTokens.first({});
  if (!row) throw notFound("token", "of the business portal");
  const { vendora_id, org_name, mdm_server_url, renew_date, macos_team } = await viewOne(ctx, row);
  return { vendora_id, org_name, mdm_server_url, renew_date, default_team: macos_team?.name ?? "" };
}
