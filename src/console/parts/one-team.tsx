import type { ReactElement, ReactNode } from "react";
import type { Action } from "../../api/access.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { isPremium, may, useSession } from "../session.ts";
import { useTeamId, useUrl } from "../url.ts";
import { InlineSelect } from "./form/inline-select.tsx";

export interface TeamOption {
  /** 0: hosts without a team. */
  readonly id: number;
  readonly name: string;
}

interface OneTeamProps {
  /** What belongs to one team: "Scripts". */
  readonly what: string;
  /** What the user needs to be allowed on the team. */
  readonly action: Action;
  /** With the id of the team. 0: hosts without a team. */
  readonly children: (teamId: number) => ReactNode;
}

/** What belongs to one team: that of the page, or one that is chosen here while the page shows all teams. */
export function OneTeam({ what, action, children }: OneTeamProps): ReactElement {
  const url = useUrl();
  const pageTeam = useTeamId();
  const options = useTeamsWith(action);
  if (!isPremium()) return <>{children(0)}</>;
  const teamId = pageTeam ?? (may(action, null) ? 0 : options[0]?.id);
  if (teamId === undefined) return <p>Your role does not allow this on any team.</p>;
  return (
    <>
      {options.length > 1 && (
        <InlineSelect
          label={`${what} of`}
          options={options.map((team) => ({ value: team.id, label: team.name }))}
          value={teamId}
          onChange={(id) => url.set({ team_id: id, page: null })}
        />
      )}
      {children(teamId)}
    </>
  );
}

/** The teams on which the user may do this, and hosts without a team (0). */
export function useTeamsWith(action: Action): readonly TeamOption[] {
  const { available_teams } = useSession();
  return [
    ...available_teams.filter(({ id }) => id > 0 && may(action, id)).map(({ id, name }) => ({ id, name })),
    ...(may(action, null) ? [{ id: 0, name: NO_TEAM_NAME }] : []),
  ];
}

/** These teams, and the one that is chosen first: that of the page if it is one of them. */
export function useTeamChoice(action: Action): { readonly teams: readonly TeamOption[]; readonly first: number } {
  const teams = useTeamsWith(action);
  const pageTeam = useTeamId();
  const has = (id: number | null) => teams.some((team) => team.id === id);
  return { teams, first: pageTeam !== null && has(pageTeam) ? pageTeam : has(0) ? 0 : (teams[0]?.id ?? 0) };
}

/** The parameter of requests about the team. Servers of the free tier have no teams, and refuse it. */
export const ofTeam = (teamId: number): { readonly team_id?: number } => (isPremium() ? { team_id: teamId } : {});

/** The team as roles name it. Null: hosts without a team. */
export const roleTeam = (teamId: number): number | null => (teamId === 0 ? null : teamId);
