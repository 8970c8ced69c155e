import type { ReactElement } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { CheckField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { isPremium, may } from "../../../session.ts";
import { AccountName } from "./account-name.tsx";
import { withPassword } from "./with-password.ts";

/** Whether sign-ins are confirmed with a mailed link: admins decide it, for themselves too. */
export function MfaCard({ user }: { readonly user: User }): ReactElement {
  return (
    <Card title="Multi-factor authentication">
      <MfaContent user={user} />
    </Card>
  );
}

function MfaContent({ user }: { readonly user: User }): ReactElement {
  if (!isPremium()) return <p>Premium: sign-ins are confirmed with a link that is mailed to you.</p>;
  if (may("users:write", null)) return <MfaForm user={user} />;
  return (
    <p>
      {user.mfa_enabled
        ? "You confirm each sign-in with a link that is mailed to you."
        : "You sign in with your password alone."}{" "}
      An admin can change this.
    </p>
  );
}

function MfaForm({ user }: { readonly user: User }): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { mfa_enabled: user.mfa_enabled, password: "" },
    hasDryRun: false,
    send: (body) => withPassword(() => client.call(usersApi.modify, { params: { id: String(user.id) }, body })),
    onDone: (_, { mfa_enabled }) => {
      notifyDone(
        mfa_enabled ? "From now on you confirm sign-ins with a mailed link." : "From now on your password is enough.",
      );
      void outdate(usersApi.me, usersApi.get, usersApi.list);
    },
  });
  return (
    <Form form={form} submit="Save sign-in">
      <CheckField form={form} name="mfa_enabled" label="Confirm each sign-in with a mailed link" />
      <AccountName email={user.email} />
      <TextField form={form} name="password" label="Your password" type="password" autoComplete="current-password" />
    </Form>
  );
}
