// Who may see and change which packages.

import type { Context } from "../../platform/core/context.ts";
import { notThere } from "../../platform/core/errors.ts";
import type { TeamScope } from "../../settings/teams/access.ts";
import { type Installer, installerOfTitle } from "./hosts.ts";

/** 404 if the team offers no package of the title. */
export async function installerFor(ctx: Context, { team_id }: TeamScope, titleId: number): Promise<Installer> {
  const installer = await installerOfTitle(ctx.store, team_id, titleId);
  if (installer === null) throw notThere(`the team offers no package of the software title ${titleId}`);
  return installer;
}
