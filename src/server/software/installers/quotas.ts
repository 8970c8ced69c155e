import { binarySizeText } from "../../../text/size.ts";
import type { Context } from "../../platform/core/context.ts";
import { quotaExceeded } from "../../platform/core/errors.ts";
import { everything } from "../../platform/store/query.ts";

/** The bytes of the packages of each team; 0: of hosts without a team. */
export type PackageSizes = ReadonlyMap<number, number>;

export async function packageSizes({ store }: Pick<Context, "store">): Promise<PackageSizes> {
  const sizes = new Map<number, number>();
  for (const { size, team_id } of await store.softwareInstallers.pick(["size", "team_id"], { where: everything }))
    sizes.set(team_id ?? 0, (sizes.get(team_id ?? 0) ?? 0) + size);
  return sizes;
}

const REMEDY = "delete some (svc software packages delete TITLE), or raise";

/**
 * Throws 413 if the packages of a team, or of all teams, have grown beyond what they may have. Called at the end of the
 * transaction, because a change may add packages before it deletes others.
 */
export async function checkPackageQuotas(
  ctx: Pick<Context, "store" | "settings">,
  before: PackageSizes,
): Promise<void> {
  const { package_max_per_team: perTeam, package_max_total: total } = ctx.settings;
  const after = await packageSizes(ctx);
  for (const [team, size] of after)
    if (size > perTeam && size > (before.get(team) ?? 0))
      throw quotaExceeded(
        `with this change, the packages of ${await nameOf(ctx, team)} would have ${binarySizeText(size)}, and may have ` +
          `${binarySizeText(perTeam)}: ${REMEDY} --package-max-per-team`,
      );
  const ofAll = sum(after);
  if (ofAll > total && ofAll > sum(before))
    throw quotaExceeded(
      `with this change, the packages of all teams would have ${binarySizeText(ofAll)}, and may have ${binarySizeText(total)}: ` +
        `${REMEDY} --package-max-total`,
    );
}

const sum = (sizes: PackageSizes): number => [...sizes.values()].reduce((all, size) => all + size, 0);

async function nameOf({ store }: Pick<Context, "store">, team: number): Promise<string> {
  const row = team === 0 ? null : await store.teams.get(team);
  return row === null ? "hosts without a team" : `the team ${row.name}`;
}
