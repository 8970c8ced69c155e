import type { ReactElement } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { isPremium, session } from "../../../session.ts";
import { rolesBody } from "./roles.ts";
import { RolesField } from "./roles-field.tsx";

interface UserDialogProps {
  readonly user: User;
  readonly onClose: () => void;
}

const teamRolesOf = ({ teams }: User) => teams.map(({ id, role }) => ({ id, role: role as string }));

/** Changes a user. Only what was changed is sent, so that a team admin needs no rights on the rest. */
export function UserDialog({ user, onClose }: UserDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: {
      name: user.name,
      email: user.email,
      global_role: user.global_role ?? "",
      teams: teamRolesOf(user),
      sso_enabled: user.sso_enabled,
      mfa_enabled: user.mfa_enabled,
    },
    send: ({ global_role, teams }, options, changed) => {
      const { global_role: role, teams: roles, ...rest } = changed;
      const areRolesChanged = role !== undefined || roles !== undefined;
      const body = { ...rest, ...(areRolesChanged ? rolesBody({ global_role, teams }) : {}) };
      return client.call(usersApi.modify, { params: { id: String(user.id) }, body }, options);
    },
    storedLists: async () => {
      const { user: stored } = await client.call(usersApi.get, { params: { id: String(user.id) } });
      return { teams: teamRolesOf(stored) };
    },
    onDone: async (_, { name }) => {
      notifyDone(`${name} is changed.`);
      await outdate(usersApi.list, usersApi.get);
      onClose();
    },
  });
  return (
    <Dialog title={`Edit ${user.name}`} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        <TextField form={form} name="name" label="Name" />
        {/* One's own address needs the password: it is changed on the page of one's account. */}
        {user.id !== session.data.user.id && <TextField form={form} name="email" label="Email" type="email" />}
        <RolesField form={form} isProgram={user.api_only} />
        <CheckField form={form} name="sso_enabled" label="Signs in with single sign-on" />
        {isPremium() && !user.api_only && (
          <CheckField form={form} name="mfa_enabled" label="Confirms each sign-in with a mailed link" />
        )}
      </Form>
    </Dialog>
  );
}
