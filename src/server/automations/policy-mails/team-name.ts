import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { teamName } from "../../settings/teams/reads.ts";

/** `teamId` as in the API. Null: global, or the team does not exist. */
export async function teamNameOf(tx: Pick<ServerTx, "teams">, teamId: number | null): Promise<string | null> {
  return teamId === 0 ? NO_TEAM_NAME : teamName(tx, teamId);
}
