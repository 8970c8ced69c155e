import { lazy, type ReactElement, Suspense } from "react";
import { type Team, teamsApi } from "../../../../api/settings/teams.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { Time } from "../../../parts/time.tsx";
import { isPremium, may } from "../../../session.ts";
import { ListSection, type OpenDialog } from "../list-section.tsx";
import { SectionPage } from "../section-page.tsx";
import type { TeamDialogKind } from "./team-dialogs.tsx";

const TeamDialogs = lazy(() => import("./team-dialogs.tsx"));

export function TeamsSection(): ReactElement {
  if (!isPremium())
    return (
      <SectionPage id="teams">
        <p>Premium: teams are groups of hosts with users, settings, policies and software of their own.</p>
      </SectionPage>
    );
  return (
    <ListSection
      id="teams"
      buttons={[{ kind: "create", label: "Create team", isMain: true, isShown: may("teams:create", null) }]}
      definitionOf={teamsOf}
      dialogOf={dialogOf}
    />
  );
}

function dialogOf(dialog: OpenDialog<TeamDialogKind, Team>, close: () => void): ReactElement {
  return (
    <Suspense>
      <TeamDialogs dialog={dialog} onClose={close} />
    </Suspense>
  );
}

const teamsOf = (onSelect: (kind: TeamDialogKind, team: Team) => void): ListDefinition<typeof teamsApi.list, Team> => ({
  name: "Teams",
  view: "teams",
  thing: "team",
  endpoint: teamsApi.list,
  hasTeams: false,
  rowsOf: ({ teams }) => teams,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    {
      id: "name",
      name: "Name",
      order: "name",
      cell: ({ id, name }) => (
        <PageLink href="/hosts" query={{ team_id: id }}>
          {name}
        </PageLink>
      ),
    },
    { id: "description", name: "Description", cell: ({ description }) => description },
    { id: "hosts", name: "Hosts", isNumber: true, cell: ({ host_count }) => host_count },
    {
      id: "users",
      name: "Users",
      isNumber: true,
      cell: ({ id, user_count }) =>
        may("users:list", id) ? (
          <PageLink href="/settings/users" query={{ team_id: id }}>
            {user_count}
          </PageLink>
        ) : (
          user_count
        ),
    },
    { id: "created", name: "Created", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    {
      id: "action",
      name: "Action",
      cell: (team) => (
        <RowButtons
          name={team.name}
          buttons={[
            { kind: "edit", label: "Edit", isShown: may("teams:edit", team.id) },
            { kind: "secrets", label: "Enroll secrets", isShown: may("enroll_secrets:read", team.id) },
            { kind: "delete", label: "Delete", isDangerous: true, isShown: may("teams:delete", null) },
          ]}
          onSelect={(kind) => onSelect(kind, team)}
        />
      ),
    },
  ],
  command: "teams list",
  empty: (
    <p>
      Teams are groups of hosts with settings, policies and software of their own. Create one, or use{" "}
      <code>svc teams create</code>.
    </p>
  ),
});
