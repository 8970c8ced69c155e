import type { ReactElement } from "react";
import { profilesApi } from "../../../../api/devices/profiles.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { formatted } from "../../../parts/counted.ts";
import { ofTeam } from "../../../parts/one-team.tsx";
import { profileStates } from "./states.ts";
import "./profiles.css";

/** The hosts of the team by the worst state of their settings. Nothing is shown until it is read. */
export function ProfilesSummary({ teamId }: { readonly teamId: number }): ReactElement | null {
  const query = ofTeam(teamId);
  const { data } = useRead(profilesApi.summary, { query }, { isLive: true });
  if (data === undefined) return null;
  return (
    <ul className="inline-list state-links" aria-label="Hosts by the state of their settings">
      {profileStates.map((status) => (
        <li key={status}>
          <PageLink href="/hosts" query={{ ...query, os_settings: status }}>
            {status}: {formatted(data[status])}
          </PageLink>
        </li>
      ))}
    </ul>
  );
}
