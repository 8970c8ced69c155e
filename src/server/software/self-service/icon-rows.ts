// The icons that teams have set, for the features by which they offer titles.

import { inTeam, may } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { iconPath, ownIcons } from "../software/icons.ts";
import type { TitleExtras } from "../software/titles/titles.ts";
import type { titleIcons } from "./tables.ts";

type IconRow = RowOf<typeof titleIcons>;
type Icons = Pick<ServerTx, "titleIcons">;

export const iconOf = ({ titleIcons }: Icons, teamId: number | null, titleId: number): Promise<IconRow | null> =>
  titleIcons.first({ where: and(inTeam(teamId ?? 0), eq("title_id", titleId)) });

/** The address of the icon that the team has set; null: none. */
export const iconUrlOf = async (store: Icons, teamId: number | null, titleId: number): Promise<string | null> =>
  (await iconOf(store, teamId, titleId)) === null ? null : iconPath(titleId, teamId);

/** Sets or removes (null) the team's icon of a title, in the caller's transaction. Returns whether that changes anything. */
export async function putIcon(
  store: Icons,
  { team_id, title_id }: Pick<IconRow, "team_id" | "title_id">,
  file: Pick<IconRow, "file_id" | "file_name"> | null,
): Promise<boolean> {
  const before = await iconOf(store, team_id, title_id);
  if ((before?.file_id ?? null) === (file?.file_id ?? null)) return false;
  if (file === null) await dropIconOf(store, team_id, title_id);
  else await store.titleIcons.upsert([{ team_id, title_id, ...file }], { on: ["team_id", "title_id"], returning: [] });
  return true;
}

/** When a team no longer offers titles. In the caller's transaction. */
async function dropIcons(store: Icons, where: Predicate): Promise<void> {
  await store.titleIcons.delete(where);
}

export const dropIconOf = (store: Icons, teamId: number | null, titleId: number): Promise<void> =>
  dropIcons(store, and(inTeam(teamId ?? 0), eq("title_id", titleId)));

/** The team's icons come before those of stores. */
export const iconExtras: TitleExtras = {
  async listed(ctx, teamId, titleIds) {
    if (!may(ctx.user, "packages:read", teamId || null)) return new Map();
    const icons = await ownIcons(ctx.store, teamId, titleIds);
    return new Map([...icons].map(([id, icon_url]) => [id, { icon_url }]));
  },
  async detailed(ctx, teamId, titleId) {
    if (!may(ctx.user, "packages:read", teamId || null)) return {};
    const icon_url = await iconUrlOf(ctx.store, teamId, titleId);
    return icon_url === null ? {} : { icon_url };
  },
};
