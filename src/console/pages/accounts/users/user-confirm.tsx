import type { ReactElement } from "react";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";

interface UserConfirmProps {
  readonly user: User;
  readonly onClose: () => void;
}

interface DeleteUserProps extends UserConfirmProps {
  readonly onDeleted?: () => void;
}

export function DeleteUserDialog({ user, onDeleted, onClose }: DeleteUserProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(usersApi.delete, { params: { id: String(user.id) } });
    notifyDone(`${user.name} is deleted.`);
    onDeleted?.();
    await outdate(usersApi.list);
  };
  return (
    <ConfirmDialog
      title={`Delete ${user.name}`}
      verb="Delete"
      typed={user.name}
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>
        {user.email} can no longer sign in, and its sessions and tokens end. What it created stays. This cannot be
        undone.
      </p>
    </ConfirmDialog>
  );
}

export function PasswordResetDialog({ user, onClose }: UserConfirmProps): ReactElement {
  const outdate = useOutdate();
  const requireReset = async () => {
    await client.call(usersApi.requirePasswordReset, { params: { id: String(user.id) }, body: { require: true } });
    notifyDone(`${user.name} has to choose a new password.`);
    await outdate(usersApi.list, usersApi.get, sessionsApi.listOfUser);
  };
  return (
    <ConfirmDialog
      title={`Require a new password of ${user.name}`}
      verb="Require"
      isDangerous={false}
      onConfirm={requireReset}
      onClose={() => onClose()}
    >
      <p>
        All sessions of {user.email} end. At the next sign-in with the present password, a new one has to be chosen.
      </p>
    </ConfirmDialog>
  );
}
