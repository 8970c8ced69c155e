// Icons of titles, as users of hosts see them.

import type { z } from "zod";
import type { Download } from "../../../api/bodies.ts";
import { ICON_SIDE, type titleIconsApi } from "../../../api/software/self-service.ts";
import { changingPolicies } from "../../checks/policies/service.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, invalid, notFound, notThere } from "../../platform/core/errors.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { downloadOf, filesOf, partsOf } from "../../platform/files/service.ts";
import { eq } from "../../platform/store/query.ts";
import { type TeamScope, teamScope } from "../../settings/teams/access.ts";
import { iconPath } from "../software/icons.ts";
import { dropIconOf, iconOf } from "./icon-rows.ts";
import { titleOffers } from "./offers.ts";
import { pngSize } from "./png.ts";

type IconInput = z.output<typeof titleIconsApi.set.body>;

export async function setIcon(ctx: Context, titleId: number, teamId: number | undefined, input: IconInput) {
  if (teamId === undefined) throw badRequest("Param team_id is required", "team_id");
  const team = await teamScope(ctx, "packages:write", teamId);
  const file = await fileOf(ctx, input);
  await changing(ctx, async (inside) => {
    const { store } = inside;
    const before = await iconOf(store, team.team_id, titleId);
    const row = { team_id: team.team_id, title_id: titleId, ...file };
    if (before?.file_id === file.file_id && before.file_name === file.file_name) return;
    if ((await store.softwareTitles.get(titleId)) === null) throw notFound("software title", titleId);
    await store.titleIcons.upsert([row], { on: ["team_id", "title_id"], returning: [] });
    await recordChange(inside, team, titleId);
  });
  return { icon_url: iconPath(titleId, team.team_id) };
}

/** Serialized with changes of what teams offer: an icon goes with what it belongs to. */
const changing = changingPolicies;

/** 404 if the team offers no package and no app of the title. */
async function recordChange(inside: Context, team: TeamScope, titleId: number): Promise<void> {
  for (const offers of inside.extensions.of(titleOffers)) if (await offers.iconChanged(inside, team, titleId)) return;
  throw notThere(`the team offers no package and no app of the software title ${titleId}`);
}

async function fileOf(ctx: Context, { icon, hash_sha256, filename }: IconInput) {
  if ((icon === undefined) === (hash_sha256 === undefined))
    throw badRequest("give either the file icon, or hash_sha256 of an icon that is stored already", "icon");
  if (icon !== undefined) {
    if (filename !== undefined) throw badRequest("goes with hash_sha256 only", "filename");
    await requireIcon(ctx, icon.id);
    return { file_id: icon.id, file_name: icon.name };
  }
  const digest = hash_sha256!.toLowerCase();
  if (filename === undefined || filename.trim() === "") throw badRequest("is required with hash_sha256", "filename");
  const id = (await filesOf(ctx, [digest])).get(digest);
  // Other files, such as packages, are not given away under this name.
  if (id === undefined || (await ctx.store.titleIcons.first({ where: eq("file_id", id) })) === null)
    throw notFound("icon", digest, "hash_sha256");
  return { file_id: id, file_name: filename.trim() };
}

async function requireIcon(ctx: Context, fileId: number): Promise<void> {
  const { size, read } = await partsOf(ctx, fileId);
  checkIcon(size === 0 ? Buffer.alloc(0) : await read(0, size));
}

/** 422 for what cannot be an icon. */
export function checkIcon(bytes: Buffer): void {
  const image = pngSize(bytes);
  if (image === null) throw invalid("icon", "must be a PNG image");
  const { width, height } = image;
  if (width !== height) throw invalid("icon", `must be square: it has ${width} x ${height} pixels`);
  if (width < ICON_SIDE.least || width > ICON_SIDE.most)
    throw invalid("icon", `must have ${ICON_SIDE.least} to ${ICON_SIDE.most} pixels on each side, not ${width}`);
}

export async function deleteIcon(ctx: Context, titleId: number, teamId: number | undefined) {
  const team = await teamScope(ctx, "packages:write", teamId);
  await changing(ctx, async (inside) => {
    if ((await iconOf(inside.store, team.team_id, titleId)) === null) throw noIcon(titleId);
    await dropIconOf(inside.store, team.team_id, titleId);
    await recordChange(inside, team, titleId);
  });
  return {};
}

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

const noIcon = (titleId: number) => notThere(`the team has set no icon of the software title ${titleId}`);

export async function getIcon(
  ctx: Context,
  titleId: number,
  teamId: number | undefined,
  reply: Reply,
): Promise<Download> {
  const { team_id } = await teamScope(ctx, "packages:read", teamId);
  return iconFor(ctx, team_id, titleId, reply);
}

/** The team's icon, or a redirect to that of the store. The caller has checked access. */
export async function iconFor(ctx: Context, teamId: number | null, titleId: number, reply: Reply): Promise<Download> {
  const icon = await iconOf(ctx.store, teamId, titleId);
  if (icon !== null) {
    reply.headers["content-disposition"] = "inline";
    return downloadOf(ctx, icon.file_id);
  }
  for (const offers of ctx.extensions.of(titleOffers)) {
    const url = await offers.storeIcon(ctx.store, teamId, titleId);
    if (url === null || !isWebAddress(url)) continue;
    reply.status = 302;
    reply.headers.location = new URL(url).href;
    return { size: 0, open: async () => (async function* () {})() };
  }
  throw noIcon(titleId);
}
