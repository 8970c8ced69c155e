// Packages and apps belong to a team, or to hosts without a team.
import type { Action } from "../../../../api/access.ts";
import { useTeamsWith } from "../../../parts/one-team.tsx";
import { useTeamId } from "../../../url.ts";

/** The team of the page, or the only one that the user has. Null: one of several is to be chosen. */
export function useOfferTeam(action: Action): number | null {
  const teams = useTeamsWith(action);
  const teamId = useTeamId();
  return teamId ?? (teams.length === 1 ? (teams[0]?.id ?? null) : null);
}
