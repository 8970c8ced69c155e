import type { ReactElement, ReactNode } from "react";
import type { Action } from "../../api/access.ts";
import { isPremium, may, useSession } from "../session.ts";
import { useTeamId, useUrl } from "../url.ts";
import { InlineSelect } from "./form/inline-select.tsx";

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
  const { available_teams } = useSession();
  if (!isPremium()) return <>{children(0)}</>;
  const options = [
    ...(may(action, null) ? [{ id: 0, name: "No team" }] : []),
    ...available_teams.filter((team) => team.id > 0 && may(action, team.id)),
  ];
  const teamId = pageTeam ?? options[0]?.id;
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

/** The parameter of requests about the team. Servers of the free tier have no teams, and refuse it. */
export const ofTeam = (teamId: number): { readonly team_id?: number } => (isPremium() ? { team_id: teamId } : {});

/** The team as roles name it. Null: hosts without a team. */
export const roleTeam = (teamId: number): number | null => (teamId === 0 ? null : teamId);
