import type { ReactElement } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { reportsApi } from "../../../../api/edge/reports.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { RowButtons } from "../../../parts/list/row-buttons.tsx";
import { Time } from "../../../parts/time.tsx";
import { may, maySomewhere, session } from "../../../session.ts";
import { ListSection, type OpenDialog } from "../../settings/list-section.tsx";
import { CreateUserDialog } from "./create-user-dialog.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { Invites } from "./invites.tsx";
import { mayChangeUser, rolesText } from "./roles.ts";
import { DeleteUserDialog, PasswordResetDialog } from "./user-confirm.tsx";
import { UserDialog } from "./user-dialog.tsx";

type Kind = "invite" | "create" | "edit" | "reset" | "delete";

export function UsersSection(): ReactElement {
  const mayInvite = may("invites:write", null);
  return (
    <ListSection
      id="users"
      buttons={[
        { kind: "create", label: "Create user", isMain: false, isShown: maySomewhere("users:write") },
        { kind: "invite", label: "Invite user", isMain: true, isShown: mayInvite },
      ]}
      definitionOf={usersOf}
      dialogOf={dialogOf}
    >
      {mayInvite && <Invites />}
    </ListSection>
  );
}

function dialogOf({ kind, row }: OpenDialog<Kind, User>, close: () => void): ReactElement {
  if (row === null) return kind === "invite" ? <InviteDialog onClose={close} /> : <CreateUserDialog onClose={close} />;
  if (kind === "edit") return <UserDialog user={row} onClose={close} />;
  if (kind === "reset") return <PasswordResetDialog user={row} onClose={close} />;
  return <DeleteUserDialog user={row} onClose={close} />;
}

const usersOf = (onSelect: (kind: Kind, user: User) => void): ListDefinition<typeof usersApi.list, User> => ({
  name: "Users",
  view: "users",
  thing: "user",
  endpoint: usersApi.list,
  rowsOf: ({ users }) => users,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  hrefOf: ({ id }) => `/settings/users/${id}`,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
    { id: "email", name: "Email", order: "email", cell: ({ email }) => email },
    { id: "role", name: "Role", cell: roleCell },
    { id: "sign-in", name: "Sign-in", cell: signInText },
    { id: "state", name: "State", cell: stateCell },
    {
      id: "created",
      name: "Created",
      order: "created_at",
      isOptional: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    {
      id: "action",
      name: "Action",
      cell: (user) =>
        mayChangeUser(user) && (
          <RowButtons
            name={user.name}
            buttons={[
              { kind: "edit", label: "Edit" },
              { kind: "reset", label: "Require new password", isShown: !user.sso_enabled && !user.api_only },
              { kind: "delete", label: "Delete", isDangerous: true, isShown: user.id !== session.data.user.id },
            ]}
            onSelect={(kind) => onSelect(kind, user)}
          />
        ),
    },
  ],
  csv: { endpoint: reportsApi.users },
  command: "users list",
  flags: { team_id: "team" },
  empty: (
    <p>
      Users sign in to this console or use the API. Invite one, or use <code>svc invites create</code>.
    </p>
  ),
});

const roleCell = (user: User): string => rolesText(user);

export const signInText = ({ api_only, sso_enabled, mfa_enabled }: User): string =>
  api_only ? "API only" : sso_enabled ? "Single sign-on" : mfa_enabled ? "Password, mailed link" : "Password";

const stateCell = ({ enabled, force_password_reset }: User): ReactElement | null =>
  !enabled ? (
    <Badge tone="bad">disabled</Badge>
  ) : force_password_reset ? (
    <Badge tone="note">new password required</Badge>
  ) : null;
