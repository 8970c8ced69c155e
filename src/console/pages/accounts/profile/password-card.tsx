import { type ReactElement, useState } from "react";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import { usersApi } from "../../../../api/accounts/users.ts";
import { ApiCallError } from "../../../../client/errors.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { AccountName } from "./account-name.tsx";

const PASSWORD_RULE = "12 to 48 characters, with a digit and a symbol";

export function PasswordCard({ email }: { readonly email: string }): ReactElement {
  const [changes, setChanges] = useState(0);
  return (
    <Card title="Change password">
      <PasswordForm key={changes} email={email} onDone={() => setChanges(changes + 1)} />
    </Card>
  );
}

interface PasswordFormProps {
  readonly email: string;
  readonly onDone: () => void;
}

function PasswordForm({ email, onDone }: PasswordFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { old_password: "", new_password: "", new_password_again: "" },
    // A dry run would count as an attempt to guess the password.
    hasDryRun: false,
    send: async ({ old_password, new_password, new_password_again }) => {
      if (new_password !== new_password_again)
        throw new ApiCallError(422, "Validation Failed", {
          errors: [{ name: "new_password_again", reason: "the passwords must match" }],
        });
      return client.call(usersApi.changePassword, { body: { old_password, new_password } });
    },
    onDone: () => {
      notifyDone("Your password is changed. Your other sessions and tokens are ended.");
      void outdate(sessionsApi.listOfUser);
      onDone();
    },
  });
  return (
    <Form form={form} submit="Change password">
      <AccountName email={email} />
      <TextField
        form={form}
        name="old_password"
        label="Current password"
        type="password"
        autoComplete="current-password"
      />
      <TextField
        form={form}
        name="new_password"
        label="New password"
        type="password"
        autoComplete="new-password"
        hint={PASSWORD_RULE}
      />
      <TextField
        form={form}
        name="new_password_again"
        label="New password again"
        type="password"
        autoComplete="new-password"
      />
    </Form>
  );
}
