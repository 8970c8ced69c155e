import { type ReactElement, useMemo, useState } from "react";
import { type Team, teamsApi } from "../../../../api/settings/teams.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { isPremium, may } from "../../../session.ts";
import { TeamSecrets } from "../enroll-secrets/enroll-secrets.tsx";
import { SectionPage } from "../section-page.tsx";
import { DeleteTeamDialog } from "./delete-team-dialog.tsx";
import { TeamDialog } from "./team-dialog.tsx";

type Change = { readonly kind: "edit" | "secrets" | "delete"; readonly team: Team };

export function TeamsSection(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  const [change, setChange] = useState<Change | null>(null);
  const definition = useMemo(() => teamsOf(setChange), []);
  const close = () => setChange(null);
  if (!isPremium())
    return (
      <SectionPage id="teams">
        <p>Premium: teams are groups of hosts with users, settings, policies and software of their own.</p>
      </SectionPage>
    );
  return (
    <SectionPage
      id="teams"
      actions={
        may("teams:create", null) && (
          <button type="button" aria-haspopup="dialog" onClick={() => setCreating(true)}>
            Create team
          </button>
        )
      }
    >
      <List definition={definition} />
      {isCreating && <TeamDialog team={null} onClose={() => setCreating(false)} />}
      {change?.kind === "edit" && <TeamDialog team={change.team} onClose={close} />}
      {change?.kind === "delete" && <DeleteTeamDialog team={change.team} onClose={close} />}
      {change?.kind === "secrets" && (
        <Dialog title={`Enroll secrets of ${change.team.name}`} isWide onClose={close}>
          <TeamSecrets teamId={change.team.id} />
        </Dialog>
      )}
    </SectionPage>
  );
}

const teamsOf = (onChange: (change: Change) => void): ListDefinition<typeof teamsApi.list, Team> => ({
  name: "Teams",
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
    { id: "action", name: "Action", cell: (team) => <TeamButtons team={team} onChange={onChange} /> },
  ],
  command: "teams list",
  empty: (
    <p>
      Teams are groups of hosts with settings, policies and software of their own. Create one, or use{" "}
      <code>svc teams create</code>.
    </p>
  ),
});

interface TeamButtonsProps {
  readonly team: Team;
  readonly onChange: (change: Change) => void;
}

function TeamButtons({ team, onChange }: TeamButtonsProps): ReactElement {
  const buttons = [
    { kind: "edit", label: "Edit", isShown: may("teams:edit", team.id) },
    { kind: "secrets", label: "Enroll secrets", isShown: may("enroll_secrets:read", team.id) },
    { kind: "delete", label: "Delete", isShown: may("teams:delete", null) },
  ] as const;
  return (
    <span className="buttons">
      {buttons
        .filter(({ isShown }) => isShown)
        .map(({ kind, label }) => (
          <button
            key={kind}
            type="button"
            className={kind === "delete" ? "danger small" : "plain small"}
            aria-haspopup="dialog"
            aria-label={`${label}: ${team.name}`}
            onClick={() => onChange({ kind, team })}
          >
            {label}
          </button>
        ))}
    </span>
  );
}
