// The addresses of the icons that teams have set for titles.
import { fullPath } from "../../../api/paths.ts";
import { titleIconsApi } from "../../../api/software/self-service.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf } from "../../platform/store/query.ts";

type Icons = Pick<ServerTx, "titleIcons">;

export const iconPath = (titleId: number, teamId: number | null): string =>
  `${fullPath(titleIconsApi.get, "latest").replace(":id", String(titleId))}?team_id=${teamId ?? 0}`;

/** The ids of those of the titles for which the team has set an icon. */
async function titlesWithIcons(
  { titleIcons }: Icons,
  teamId: number | null,
  titleIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const where = and(inTeam(teamId ?? 0), oneOf("title_id", titleIds));
  return new Set((await titleIcons.pick(["title_id"], { where })).map(({ title_id }) => title_id));
}

/** The addresses of these icons, by the title's id. */
export const ownIcons = async (store: Icons, teamId: number | null, titleIds: readonly number[]) =>
  new Map([...(await titlesWithIcons(store, teamId, titleIds))].map((id) => [id, iconPath(id, teamId)]));
