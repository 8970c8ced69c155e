import { sizeText } from "../../../text/size.ts";
import type { Context } from "../../platform/core/context.ts";
import { quotaExceeded } from "../../platform/core/errors.ts";
import { everything } from "../../platform/store/query.ts";
import type { TeamScope } from "../../settings/teams/access.ts";

const NEXT = "delete some (svc software packages delete TITLE), or raise";

/**
 * Throws 413 if the packages of the team, or of all teams, have become too large. Called in the transaction that has
 * written one of them.
 */
export async function checkPackageQuotas(
  { store, settings }: Pick<Context, "store" | "settings">,
  { team_id, team_name }: TeamScope,
): Promise<void> {
  const packages = await store.softwareInstallers.pick(["size", "team_id"], { where: everything });
  const sum = (rows: typeof packages): number => rows.reduce((all, { size }) => all + size, 0);
  const { package_max_per_team: perTeam, package_max_total: total } = settings;
  const ofTeam = sum(packages.filter((row) => row.team_id === team_id));
  if (ofTeam > perTeam)
    throw quotaExceeded(
      `with this file, the packages of ${team_name === null ? "hosts without a team" : `the team ${team_name}`} have ` +
        `${sizeText(ofTeam)}, and may have ${sizeText(perTeam)}: ${NEXT} --package-max-per-team`,
    );
  const ofAll = sum(packages);
  if (ofAll > total)
    throw quotaExceeded(
      `with this file, the packages of all teams have ${sizeText(ofAll)}, and may have ${sizeText(total)}: ` +
        `${NEXT} --package-max-total`,
    );
}
