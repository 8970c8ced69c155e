import type { ReactElement } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Time } from "../../../parts/time.tsx";
import { session } from "../../../session.ts";
import { rolesText } from "../users/roles.ts";

const signInText = ({ sso_enabled, mfa_enabled }: User): string => {
  if (sso_enabled) return "single sign-on";
  return mfa_enabled ? "password and mailed link" : "password";
};

/** Who the user is, with the parts that need no password to be changed. */
export function AccountCard({ user }: { readonly user: User }): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: user.name, position: user.position ?? "" },
    send: (_, options, body) => client.call(usersApi.modify, { params: { id: String(user.id) }, body }, options),
    onDone: () => {
      notifyDone("Your account is saved.");
      void outdate(usersApi.me, usersApi.get, usersApi.list);
      // The banner shows the name of the session.
      void session.renew();
    },
  });
  return (
    <Card title="Account">
      <Facts
        facts={[
          ["Email", user.email],
          [user.global_role === null ? "Roles" : "Role", rolesText(user) || "none"],
          ["Signs in with", signInText(user)],
          ["Since", <Time key="since" value={user.created_at} />],
        ]}
      />
      <Form form={form} submit="Save">
        <TextField form={form} name="name" label="Name" autoComplete="name" />
        <TextField form={form} name="position" label="Position" autoComplete="organization-title" />
      </Form>
    </Card>
  );
}
