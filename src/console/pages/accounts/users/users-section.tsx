import { type ReactElement, useMemo, useState } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { reportsApi } from "../../../../api/edge/reports.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { may, maySomewhere, session } from "../../../session.ts";
import { SectionPage } from "../../settings/section-page.tsx";
import { CreateUserDialog } from "./create-user-dialog.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { Invites } from "./invites.tsx";
import { mayChangeUser, rolesText } from "./roles.ts";
import { DeleteUserDialog, PasswordResetDialog } from "./user-confirm.tsx";
import { UserDialog } from "./user-dialog.tsx";

type Change = { readonly kind: "edit" | "reset" | "delete"; readonly user: User };

export function UsersSection(): ReactElement {
  const [dialog, setDialog] = useState<"invite" | "create" | null>(null);
  const [change, setChange] = useState<Change | null>(null);
  const definition = useMemo(() => usersOf(setChange), []);
  const mayInvite = may("invites:write", null);
  const close = () => setChange(null);
  return (
    <SectionPage
      id="users"
      actions={
        <>
          {maySomewhere("users:write") && (
            <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("create")}>
              Create user
            </button>
          )}
          {mayInvite && (
            <button type="button" aria-haspopup="dialog" onClick={() => setDialog("invite")}>
              Invite user
            </button>
          )}
        </>
      }
    >
      <List definition={definition} />
      {mayInvite && <Invites />}
      {dialog === "invite" && <InviteDialog onClose={() => setDialog(null)} />}
      {dialog === "create" && <CreateUserDialog onClose={() => setDialog(null)} />}
      {change?.kind === "edit" && <UserDialog user={change.user} onClose={close} />}
      {change?.kind === "reset" && <PasswordResetDialog user={change.user} onClose={close} />}
      {change?.kind === "delete" && <DeleteUserDialog user={change.user} onClose={close} />}
    </SectionPage>
  );
}

const usersOf = (onChange: (change: Change) => void): ListDefinition<typeof usersApi.list, User> => ({
  name: "Users",
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
    { id: "action", name: "Action", cell: (user) => <UserButtons user={user} onChange={onChange} /> },
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

interface UserButtonsProps {
  readonly user: User;
  readonly onChange: (change: Change) => void;
}

function UserButtons({ user, onChange }: UserButtonsProps): ReactElement | null {
  if (!mayChangeUser(user)) return null;
  const buttons = [
    { kind: "edit", label: "Edit", isShown: true },
    { kind: "reset", label: "Require new password", isShown: !user.sso_enabled && !user.api_only },
    { kind: "delete", label: "Delete", isShown: user.id !== session.data.user.id },
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
            aria-label={`${label}: ${user.name}`}
            onClick={() => onChange({ kind, user })}
          >
            {label}
          </button>
        ))}
    </span>
  );
}
