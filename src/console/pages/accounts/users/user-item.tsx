import { type ReactElement, useState } from "react";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useShortcut } from "../../../frame/shortcuts.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Time } from "../../../parts/time.tsx";
import { may, session } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { SectionPage } from "../../settings/section-page.tsx";
import type { ItemProps } from "../../settings/sections.ts";
import { SessionsTable } from "../sessions/sessions-table.tsx";
import { mayChangeUser, rolesText } from "./roles.ts";
import { DeleteUserDialog, PasswordResetDialog } from "./user-confirm.tsx";
import { UserDialog } from "./user-dialog.tsx";
import { signInText } from "./users-section.tsx";

/** A user: account, roles, sessions and tokens. */
export function UserItem({ id }: ItemProps): ReactElement {
  const reply = useRead(usersApi.get, { params: { id: String(id) } });
  if (reply.data === undefined)
    return (
      <SectionPage id="users" item="User">
        <Read from={reply} what="user">
          {() => null}
        </Read>
      </SectionPage>
    );
  return <UserPage user={reply.data.user} />;
}

function UserPage({ user }: { readonly user: User }): ReactElement {
  const { id, name, email, position, created_at } = user;
  return (
    <SectionPage
      id="users"
      item={name}
      actions={
        <>
          <AsCommand command={`svc users get ${id}`} method="GET" path={`/api/latest/svc/users/${id}`} />
          <Actions user={user} />
        </>
      }
    >
      <Card title="Account">
        <Facts
          facts={[
            ["Email", email],
            ["Position", position],
            ["Role", rolesText(user)],
            ["Sign-in", signInText(user)],
            ["Created", <Time key="created" value={created_at} />],
          ]}
        />
      </Card>
      {(may("sessions:any", null) || id === session.data.user.id) && (
        <>
          {!user.api_only && (
            <Card title="Sessions">
              <SessionsTable userId={id} kind="session" />
            </Card>
          )}
          <Card title="API tokens">
            <SessionsTable userId={id} kind="token" />
          </Card>
        </>
      )}
    </SectionPage>
  );
}

type Change = "edit" | "reset" | "sessions" | "delete";

function Actions({ user }: { readonly user: User }): ReactElement {
  const [change, setChange] = useState<Change | null>(null);
  const go = useGo();
  const mayChange = mayChangeUser(user);
  const close = () => setChange(null);
  useShortcut("e", "Edit the user", () => setChange("edit"), mayChange);
  const buttons = [
    { kind: "edit", label: "Edit", isShown: mayChange },
    { kind: "reset", label: "Require new password", isShown: mayChange && !user.sso_enabled && !user.api_only },
    { kind: "sessions", label: "End all sessions", isShown: may("sessions:any", null) },
    { kind: "delete", label: "Delete", isShown: mayChange && user.id !== session.data.user.id },
  ] as const;
  return (
    <>
      {buttons
        .filter(({ isShown }) => isShown)
        .map(({ kind, label }) => (
          <button
            key={kind}
            type="button"
            className={kind === "delete" ? "danger" : "plain"}
            aria-haspopup="dialog"
            onClick={() => setChange(kind)}
          >
            {label}
          </button>
        ))}
      {change === "edit" && <UserDialog user={user} onClose={close} />}
      {change === "reset" && <PasswordResetDialog user={user} onClose={close} />}
      {change === "sessions" && <EndSessionsDialog user={user} onClose={close} />}
      {change === "delete" && <DeleteUserDialog user={user} onDeleted={() => go("/settings/users")} onClose={close} />}
    </>
  );
}

interface EndSessionsDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

function EndSessionsDialog({ user, onClose }: EndSessionsDialogProps): ReactElement {
  const outdate = useOutdate();
  const confirm = async () => {
    await client.call(sessionsApi.deleteOfUser, { params: { id: String(user.id) } });
    notifyDone(`${user.name} is signed out everywhere.`);
    await outdate(sessionsApi.listOfUser);
  };
  return (
    <ConfirmDialog title={`End all sessions of ${user.name}`} verb="End" onConfirm={confirm} onClose={() => onClose()}>
      <p>All browsers and programs of {user.email} are signed out, and its API tokens no longer work.</p>
    </ConfirmDialog>
  );
}
