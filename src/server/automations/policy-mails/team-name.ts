import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import type { ServerTx } from "../../platform/core/tables.ts";

/** `teamId` as in the API. Null: global, or the team does not exist. */
export async function teamNameOf(tx: Pick<ServerTx, "teams">, teamId: number | null): Promise<string | null> {
  if (teamId === null) return null;
  return teamId === 0 ? NO_TEAM_NAME : ((await tx.teams.get(teamId))?.name ?? null);
}
