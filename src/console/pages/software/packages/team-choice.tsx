import { type ReactElement, useId } from "react";
import { Card } from "../../../parts/card.tsx";
import { useTeamsWith } from "../../../parts/one-team.tsx";
import { useUrl } from "../../../url.ts";

/** Stands in place of a title's package until a team is chosen. */
export function TeamChoice(): ReactElement | null {
  const id = useId();
  const url = useUrl();
  const teams = useTeamsWith("packages:read");
  if (teams.length === 0) return null;
  return (
    <Card title="Package">
      <p>Packages and apps are offered to the hosts of a team. Choose one to see what it offers.</p>
      <div className="field">
        <label htmlFor={id}>Team</label>
        <select id={id} value="" onChange={({ target }) => url.set({ team_id: target.value })}>
          <option value="">Choose a team</option>
          {teams.map((team) => (
            <option key={team.id} value={team.id}>
              {team.name}
            </option>
          ))}
        </select>
      </div>
    </Card>
  );
}
