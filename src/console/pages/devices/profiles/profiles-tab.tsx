import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type ConfigurationProfile, profilesApi } from "../../../../api/devices/profiles.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { OneTeam, ofTeam, roleTeam } from "../../../parts/one-team.tsx";
import { may } from "../../../session.ts";
import { profileColumns } from "./columns.tsx";
import type { OpenProfileDialog } from "./open-dialog.ts";
import { profileHref } from "./profile-href.ts";
import { ProfilesSummary } from "./profiles-summary.tsx";

const ProfileDialogs = lazy(() => import("./profile-dialogs.tsx"));

/** The configuration profiles of a team, with how far its hosts are. */
export default function ProfilesTab(): ReactElement {
  return (
    <OneTeam what="Profiles" action="profiles:read">
      {(teamId) => <Profiles key={teamId} teamId={teamId} />}
    </OneTeam>
  );
}

function Profiles({ teamId }: { readonly teamId: number }): ReactElement {
  const [dialog, setDialog] = useState<OpenProfileDialog | null>(null);
  const definition = useMemo(() => profilesOf(teamId, setDialog), [teamId]);
  return (
    <>
      {may("profiles:write", roleTeam(teamId)) && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => setDialog({ name: "add", teamId })}>
            Add profile
          </button>
        </p>
      )}
      {may("mdm:read", roleTeam(teamId)) && <ProfilesSummary teamId={teamId} />}
      <List definition={definition} />
      {dialog !== null && (
        <Suspense>
          <ProfileDialogs dialog={dialog} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </>
  );
}

const profilesOf = (
  teamId: number,
  open: (dialog: OpenProfileDialog) => void,
): ListDefinition<typeof profilesApi.list, ConfigurationProfile> => ({
  name: "Profiles",
  view: "profiles",
  thing: "profile",
  endpoint: profilesApi.list,
  query: { ...ofTeam(teamId), populate_host_counts: true },
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ profiles }) => profiles,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ profile_uuid }) => profile_uuid,
  nameOf: ({ name }) => name,
  hrefOf: profileHref,
  columns: profileColumns(open),
  command: "mdm profiles list",
  flags: { team_id: "team" },
  empty: (
    <p>
      A configuration profile is a file with settings that hosts install: .mobileconfig or .json for Apple devices, .xml
      for Windows, .json for Android. There is none for these hosts yet. On the command line:{" "}
      <code>svc mdm profiles add</code>.
    </p>
  ),
});
