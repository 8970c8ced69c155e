import type { ReactElement } from "react";
import { type User, usersApi } from "../../../../api/accounts/users.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";
import { AccountName } from "./account-name.tsx";
import { withPassword } from "./with-password.ts";

/** Changes the address of the account. If the server sends mail, the new address has to be confirmed first. */
export function EmailCard({ user }: { readonly user: User }): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { email: "", password: "" },
    hasDryRun: false,
    send: (body) => withPassword(() => client.call(usersApi.modify, { params: { id: String(user.id) }, body })),
    onDone: (reply, { email }) => {
      const isChanged = reply.user.email === email.trim().toLowerCase();
      notifyDone(
        isChanged
          ? "Your email address is changed."
          : `A link was mailed to ${email}. The old address stays valid until you confirm the new one.`,
      );
      void outdate(usersApi.me, usersApi.get, usersApi.list);
      if (isChanged) void session.renew();
    },
  });
  return (
    <Card title="Change email">
      <Form form={form} submit="Change email">
        <TextField
          form={form}
          name="email"
          label="New email"
          type="email"
          hint="a link to confirm it is sent to this address; a server that sends no mail changes it at once"
        />
        <AccountName email={user.email} />
        <TextField form={form} name="password" label="Your password" type="password" autoComplete="current-password" />
      </Form>
    </Card>
  );
}
