// Asset declarations. Devices get those to which their configurations refer by identifier.
import { createHash } from "node:crypto";
import type { Content } from "../../../../api/bodies.ts";
import type { Asset } from "../../../../api/devices/assets.ts";
import { PROFILE_MAX } from "../../../../api/devices/profiles.ts";
import { isRecord } from "../../../../text/record.ts";
import { type Context, isPremium, within } from "../../../platform/core/context.ts";
import {
  alreadyExists,
  conflict,
  forbidden,
  invalid,
  notFound,
  premiumRequired,
} from "../../../platform/core/errors.ts";
import { inTeam, may } from "../../../platform/core/security/access.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { requireAppleMdm } from "../../gate.ts";
import { teamFor } from "../../profiles/access.ts";
import { contentsOf } from "../../profiles/contents.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import type { ProfileRow } from "../../profiles/platform.ts";
import { sendAgain, sentRows } from "../../profiles/resend.ts";
import { type File, PROFILE_LOCK_OPTIONS } from "../../profiles/service.ts";
import { hasVariables } from "../../profiles/variables.ts";
import { readJsonDeclaration } from "../profiles/declaration.ts";
import type { declarationAssets } from "./tables.ts";

type AssetRow = RowOf<typeof declarationAssets>;
/** Without the content. */
export const outline = ["id", "uuid", "team_id", "name", "identifier", "checksum", "created_at", "updated_at"] as const;
export type AssetOutline = Pick<AssetRow, (typeof outline)[number]>;
type Outline = AssetOutline;

const FIELD = "asset";
const TYPES = "com.apple.asset.";

const onWire = ({ uuid, name, identifier, created_at, updated_at, checksum }: Outline): Asset => ({
  asset_uuid: uuid,
  asset: name,
  identifier,
  created_at,
  updated_at,
  checksum,
});

export async function listAssets(ctx: Context, teamId: number | undefined): Promise<{ assets: Asset[] }> {
  const { team_id } = await teamFor(ctx, "profiles:read", teamId);
  await requireAppleMdm(ctx);
  const order = [{ column: "name", direction: "asc" }] as const;
  const rows = await ctx.store.declarationAssets.pick(outline, { where: inTeam(team_id ?? 0), order });
  return { assets: rows.map(onWire) };
}

/** An asset of a team that the caller cannot see is answered like a missing one. */
async function assetFor(ctx: Context, action: "profiles:read" | "profiles:write", uuid: string): Promise<AssetRow> {
  const asset = await ctx.store.declarationAssets.first({ where: eq("uuid", uuid) });
  if (!asset) throw notFound("asset", uuid);
  if (!may(ctx.user, action, asset.team_id))
    throw may(ctx.user, "profiles:read", asset.team_id) || may(ctx.user, "hosts:read", asset.team_id)
      ? forbidden()
      : notFound("asset", uuid);
  await requireAppleMdm(ctx);
  return asset;
}

export async function getAsset(ctx: Context, uuid: string) {
  const asset = await assetFor(ctx, "profiles:read", uuid);
  return { ...onWire(asset), team_id: asset.team_id ?? 0 };
}

/** The file as it was uploaded. */
export async function downloadAsset(ctx: Context, uuid: string): Promise<Content> {
  const { content, name } = await assetFor(ctx, "profiles:read", uuid);
  return { content: new Uint8Array(Buffer.from(content, "base64")), type: "application/octet-stream", name };
}

export async function createAsset(ctx: Context, teamId: number | undefined, file: File) {
  if (teamId !== undefined && !isPremium(ctx)) throw premiumRequired();
  const { team_id } = await teamFor(ctx, "profiles:write", teamId);
  await requireAppleMdm(ctx);
  const asset = readAssetFile(file.bytes, FIELD);
  if (file.name.trim() === "" || file.name.length > 255)
    throw invalid(FIELD, "the file needs a name of at most 255 characters");
  const { identifier } = asset;
  const asset_uuid = await ctx.store.tx(async (store) => {
    const same = and(inTeam(team_id ?? 0), eq("identifier", identifier));
    if ((await store.declarationAssets.first({ where: same })) !== null)
      throw alreadyExists(`an asset with the identifier ${JSON.stringify(identifier)} already exists in this team`);
    return keepAsset(within(ctx, store), team_id, null, { name: file.name, identifier, file: asset });
  }, PROFILE_LOCK_OPTIONS);
  return { asset_uuid };
}

export interface AssetFile {
  readonly identifier: string;
  readonly columns: Pick<AssetRow, "checksum" | "content">;
}

/** 422 that names the reason if it is not an asset. */
export function readAssetFile(bytes: Uint8Array, field: string): AssetFile {
  if (bytes.byteLength > PROFILE_MAX) throw invalid(field, `the asset is larger than ${PROFILE_MAX} bytes`);
  const text = Buffer.from(bytes).toString("utf8");
  const { identifier } = readJsonDeclaration(text, { field, types: TYPES });
  if (hasVariables(text)) throw invalid(field, "assets cannot contain variables");
  const checksum = createHash("sha256").update(bytes).digest("hex");
  return { identifier, columns: { checksum, content: Buffer.from(bytes).toString("base64") } };
}

interface AssetInput {
  readonly name: string;
  readonly identifier: string;
  /** Null: the content stays. */
  readonly file: AssetFile | null;
}

/** Adds the asset, or changes the one before. Call it in a transaction under the lock of profiles. */
export async function keepAsset(
  inside: Context,
  teamId: number | null,
  before: Outline | null,
  { name, identifier, file }: AssetInput,
): Promise<string> {
  const { store } = inside;
  const now = inside.clock.iso();
  const columns = { name, updated_at: now, ...file?.columns };
  const uuid = before?.uuid ?? inside.random.uuid();
  if (before) await store.declarationAssets.update({ where: eq("id", before.id), set: columns });
  else
    await store.declarationAssets.insert({
      uuid,
      team_id: teamId,
      identifier,
      created_at: now,
      ...file!.columns,
      name,
      updated_at: now,
    });
  if (file && file.columns.checksum !== before?.checksum) await sendReferring(inside, { team_id: teamId, identifier });
  return uuid;
}

/** The files by their digests. */
export async function assetContents(store: ServerTx, rows: readonly Outline[]): Promise<ReadonlyMap<string, Buffer>> {
  const ids = rows.map(({ id }) => id);
  const assets = await store.declarationAssets.pick(["checksum", "content"], { where: oneOf("id", ids) });
  return new Map(assets.map(({ checksum, content }) => [checksum, Buffer.from(content, "base64")]));
}

/** Devices that have waited for the asset get to know of it. */
async function sendReferring(inside: Context, asset: Pick<AssetRow, "team_id" | "identifier">): Promise<void> {
  const profiles = await referringProfiles(inside.store, asset);
  if (profiles.length === 0) return;
  await sendAgain(inside, sentRows(profiles.map(({ uuid }) => uuid)));
  await notifyProfiles(inside.store, { profileIds: profiles.map(({ id }) => id) });
}

export async function deleteAsset(ctx: Context, uuid: string): Promise<Record<string, never>> {
  const asset = await assetFor(ctx, "profiles:write", uuid);
  await ctx.store.tx((store) => dropAsset(store, asset), PROFILE_LOCK_OPTIONS);
  return {};
}

/** Call it in a transaction under the lock of profiles. */
export async function dropAsset(store: ServerTx, asset: Outline): Promise<void> {
  const [profile] = await referringProfiles(store, asset);
  if (profile)
    throw conflict(`the profile ${JSON.stringify(profile.name)} refers to the asset: delete or change it first`);
  await store.declarationAssets.delete(eq("id", asset.id));
}

async function referringProfiles(
  store: ServerTx,
  { team_id, identifier }: Pick<AssetRow, "team_id" | "identifier">,
): Promise<Pick<ProfileRow, "id" | "uuid" | "name">[]> {
  const profiles = await store.configurationProfiles.pick(["id", "uuid", "name"], {
    where: and(inTeam(team_id ?? 0), eq("kind", "declaration"), eq("platform", "darwin")),
  });
  const contents = await contentsOf(
    store,
    profiles.map(({ id }) => id),
  );
  return profiles.filter(({ id }) => {
    const content = contents.get(id);
    return content !== undefined && textsIn(JSON.parse(content.toString())).has(identifier);
  });
}

/** All texts in a value. Payloads refer to assets by identifier, under names that differ from type to type. */
function textsIn(value: unknown, texts: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value === "string") texts.add(value);
  else if (Array.isArray(value)) for (const element of value) textsIn(element, texts);
  else if (isRecord(value)) for (const element of Object.values(value)) textsIn(element, texts);
  return texts;
}

/** The assets of a team to which the payloads refer. */
export async function assetsFor(
  store: ServerTx,
  teamId: number | null,
  payloads: readonly unknown[],
): Promise<AssetRow[]> {
  const assets = await store.declarationAssets.pick(["id", "identifier"], { where: inTeam(teamId ?? 0) });
  if (assets.length === 0) return [];
  const texts = textsIn(payloads);
  const ids = assets.flatMap(({ id, identifier }) => (texts.has(identifier) ? [id] : []));
  return store.declarationAssets.list({ where: oneOf("id", ids) });
}
