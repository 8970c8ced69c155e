import { binarySizeText } from "../../../text/size.ts";
import type { Context } from "../core/context.ts";
import { quotaExceeded } from "../core/errors.ts";
import { and, gt, oneOf } from "../store/query.ts";

const NEXT = "delete some (svc uploads list, svc uploads delete ID), or wait until they expire";

/** Throws 413 if the uploads of the user, or of the users of one of its teams, become too large with this one. */
export async function checkQuotas(
  { store, clock, settings, user }: Pick<Context, "store" | "clock" | "settings" | "user">,
  size: number,
): Promise<void> {
  const sizeOf = async (userIds: readonly number[]): Promise<number> => {
    const where = and(oneOf("user_id", userIds), gt("expires_at", clock.iso()));
    return (await store.uploads.pick(["size"], { where })).reduce((sum, row) => sum + row.size, 0);
  };
  const { upload_max_per_user, upload_max_per_team } = settings;
  const used = await sizeOf([user.id]);
  if (used + size > upload_max_per_user)
    throw quotaExceeded(
      `you have uploads of ${binarySizeText(used)}, and may have ${binarySizeText(upload_max_per_user)}: ${NEXT}`,
    );
  if (user.global_role !== null) return;
  for (const { id } of user.teams) {
    const members = await store.userTeams.pick(["user_id"], { where: oneOf("team_id", [id]) });
    const ofTeam = await sizeOf(members.map(({ user_id }) => user_id));
    if (ofTeam + size > upload_max_per_team)
      throw quotaExceeded(
        `the users of your team ${id} have uploads of ${binarySizeText(ofTeam)}, and may have ${binarySizeText(upload_max_per_team)}: ${NEXT}`,
      );
  }
}
