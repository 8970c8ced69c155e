import { type ReactElement, useState } from "react";
import { usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable } from "../../../parts/as-command.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, SelectField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { initialRoles, rolesBody } from "./roles.ts";
import { RolesField } from "./roles-field.tsx";

const kinds = [
  { value: "password", label: "A person with a password" },
  { value: "sso", label: "A person with single sign-on" },
  { value: "api", label: "A program with an API token" },
];

/** Nobody knows the password of a program, which signs in with its token. */
function randomPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return `${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}-1aA`;
}

export function CreateUserDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [token, setToken] = useState<string | null>(null);
  const [programPassword] = useState(randomPassword);
  const outdate = useOutdate();
  const form = useForm({
    initial: {
      kind: "password",
      name: "",
      email: "",
      password: "",
      admin_forced_password_reset: true,
      ...initialRoles(),
    },
    send: ({ kind, name, email, password, admin_forced_password_reset, ...roles }, { dryRun = false }) => {
      const signIn = {
        password: { password, admin_forced_password_reset },
        sso: { sso_enabled: true },
        api: { api_only: true, password: programPassword, admin_forced_password_reset: false },
      }[kind];
      return client.call(usersApi.create, { body: { name, email, ...signIn, ...rolesBody(roles) } }, { dryRun });
    },
    onDone: (reply) => {
      void outdate(usersApi.list);
      if (reply.token !== undefined) return setToken(reply.token);
      notifyDone(`${reply.user.name} is created.`);
      onClose();
    },
  });
  const { kind } = form.values;
  if (token !== null)
    return (
      <Dialog title={`Token of ${form.values.name}`} onClose={onClose}>
        <p>Copy it now: it is shown only once.</p>
        <Copyable label="Token" text={token} />
      </Dialog>
    );
  return (
    <Dialog title="Create user" onClose={onClose}>
      <Form form={form} submit="Create user" onCancel={onClose}>
        <SelectField form={form} name="kind" label="Kind" options={kinds} />
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="email" label="Email" type="email" />
        {kind === "password" && (
          <>
            <TextField
              form={form}
              name="password"
              label="Password"
              type="password"
              autoComplete="new-password"
              hint="12 to 48 characters, with a digit and a symbol"
            />
            <CheckField
              form={form}
              name="admin_forced_password_reset"
              label="Has to choose a new password at the first sign-in"
            />
          </>
        )}
        <RolesField form={form} isProgram={kind === "api"} />
      </Form>
    </Dialog>
  );
}
