// Icons in the values of packages and store apps: by the digest of the image. Empty: none.

import { ICON_MAX } from "../../../../api/software/self-service.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid } from "../../../platform/core/errors.ts";
import { byId } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { filesOf, keepFile, startOf } from "../../../platform/files/service.ts";
import { oneOf } from "../../../platform/store/query.ts";
import type { TeamScope } from "../../../settings/teams/access.ts";
import { iconOf, putIcon } from "../../../software/self-service/icon-rows.ts";
import { checkIcon } from "../../../software/self-service/icons.ts";
import { titleOffers } from "../../../software/self-service/offers.ts";
import { locating, type Step } from "../changes.ts";
import type { Contents } from "../values.ts";

interface DesiredIcon {
  readonly value: { readonly icon: string };
  /** If the request contains it. */
  readonly icon: Buffer | undefined;
}

interface Place {
  readonly team_id: number | null;
  readonly title_id: number;
}

const keyOf = ({ team_id, title_id }: Place): string => `${team_id ?? 0} ${title_id}`;

/** The image that the request contains. 422 if it cannot be an icon. */
export function readIcon({ icon }: DesiredIcon["value"], contents: Contents): Buffer | undefined {
  const content = contents.get(icon);
  if (content === undefined) return undefined;
  if (content.length > ICON_MAX) throw invalid("icon", `is larger than ${ICON_MAX} bytes`);
  const bytes = Buffer.from(content);
  checkIcon(bytes);
  return bytes;
}

/** The digests of all icons that teams have set. */
export async function iconDigests(store: ServerTx): Promise<(place: Place) => string> {
  const icons = await store.titleIcons.list();
  const files = byId(await store.files.getMany([...new Set(icons.map(({ file_id }) => file_id))]));
  const digests = new Map(icons.map((row) => [keyOf(row), files.get(row.file_id)?.sha256 ?? ""]));
  return (place) => digests.get(keyOf(place)) ?? "";
}

/** The images of these titles, by their digests. */
export async function iconContents(ctx: Context, digests: readonly string[]): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  const where = oneOf("sha256", [...new Set(digests.filter((digest) => digest !== ""))]);
  for (const { sha256, id } of await ctx.store.files.list({ where }))
    contents.set(sha256, await startOf(ctx, id, ICON_MAX));
  return contents;
}

/** Stores the images that the request contains, before the transaction. A dry run stores nothing. */
export async function keepIcons(ctx: Context, steps: readonly Step<DesiredIcon>[]): Promise<void> {
  if (ctx.dryRun !== null) return;
  for (const step of steps) {
    const { icon } = step.desired;
    if (icon) await locating(step, () => keepFile(ctx, parts(icon), { maxBytes: ICON_MAX }));
  }
}

async function* parts(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}

/** Sets or removes the icon in the caller's transaction. Returns whether that changes anything. */
export async function writeIcon(
  inside: Context,
  { team_id }: TeamScope,
  title_id: number,
  { value: { icon: digest }, icon }: DesiredIcon,
): Promise<boolean> {
  const { store } = inside;
  if (digest === "") return putIcon(store, { team_id, title_id }, null);
  const before = await iconOf(store, team_id, title_id);
  if (before && (await store.files.get(before.file_id))?.sha256 === digest) return false;
  if (icon === undefined) throw invalid("icon", "the request does not contain the file with this digest");
  const file_id = (await filesOf(inside, [digest])).get(digest);
  // A dry run has not stored it.
  if (file_id === undefined && inside.dryRun !== null) return true;
  if (file_id === undefined) throw invalid("icon", "the file is no longer stored: try again");
  return putIcon(store, { team_id, title_id }, { file_id, file_name: FILE_NAME });
}

/** In files, icons are known by their digests only. */
const FILE_NAME = "icon.png";

export async function recordIcon(inside: Context, team: TeamScope, titleId: number): Promise<void> {
  for (const offers of inside.extensions.of(titleOffers)) if (await offers.iconChanged(inside, team, titleId)) return;
}
