// Packages and apps belong to a team, or to hosts without a team.
import type { Action } from "../../../../api/access.ts";
import { NO_TEAM_NAME } from "../../../../api/settings/no-team.ts";
import { may, useSession } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";

export interface OfferTeam {
  /** 0: hosts without a team. */
  readonly id: number;
  readonly name: string;
}

/** The teams on which the user may do this. */
export function useOfferTeams(action: Action): readonly OfferTeam[] {
  const { available_teams } = useSession();
  return [
    ...available_teams.filter(({ id }) => id > 0 && may(action, id)).map(({ id, name }) => ({ id, name })),
    ...(may(action, null) ? [{ id: 0, name: NO_TEAM_NAME }] : []),
  ];
}

/** The team of the page, or the only one that the user has. Null: one of several is to be chosen. */
export function useOfferTeam(action: Action): number | null {
  const teams = useOfferTeams(action);
  const teamId = useTeamId();
  return teamId ?? (teams.length === 1 ? (teams[0]?.id ?? null) : null);
}
