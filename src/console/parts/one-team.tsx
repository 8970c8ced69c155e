import { type ReactElement, type ReactNode, useId } from "react";
import type { Action } from "../../api/access.ts";
import { isPremium, may, useSession } from "../session.ts";
import { useTeamId, useUrl } from "../url.ts";

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
  const id = useId();
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
      {(pageTeam === null || options.length > 1) && (
        <p className="toolbar">
          <label htmlFor={id}>{what} of</label>{" "}
          <select
            id={id}
            className="of-team"
            value={teamId}
            onChange={({ target }) => url.set({ team_id: target.value, page: null })}
          >
            {options.map((team) => (
              <option key={team.id} value={team.id}>
                {team.name}
              </option>
            ))}
          </select>
        </p>
      )}
      {children(teamId)}
    </>
  );
}

/** The parameter of requests about the team. Servers of the free tier have no teams, and refuse it. */
export const ofTeam = (teamId: number): { readonly team_id?: number } => (isPremium() ? { team_id: teamId } : {});

/** The team as roles name it. Null: hosts without a team. */
export const roleTeam = (teamId: number): number | null => (teamId === 0 ? null : teamId);
