import { type ReactElement, useState } from "react";
import { sessionsApi } from "../../../../api/accounts/sessions.ts";
import { tokensApi } from "../../../../api/accounts/tokens.ts";
import { client, useOutdate } from "../../../api.ts";
import { Copyable } from "../../../parts/as-command.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";

const lifetimes = [
  { value: "1d", label: "1 day" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
  { value: "90d", label: "90 days" },
  { value: "365d", label: "1 year" },
  { value: "730d", label: "2 years" },
];

/** Creates a token of the user, and shows it once. */
export function TokenDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const [token, setToken] = useState<{ readonly name: string; readonly token: string } | null>(null);
  const form = useForm({
    initial: { name: "", expires_in: "90d", endpoints: "" },
    send: ({ endpoints, ...rest }, options) => {
      const lines = endpoints.split("\n").map((line) => line.trim());
      const limits = lines.filter((line) => line !== "");
      const body = { ...rest, ...(limits.length === 0 ? {} : { endpoints: limits }) };
      return client.call(tokensApi.create, { body }, options);
    },
    onDone: async (reply) => {
      setToken(reply);
      await outdate(tokensApi.list, sessionsApi.listOfUser);
    },
  });
  if (token !== null)
    return (
      <Dialog title={`Token ${token.name}`} onClose={onClose}>
        <p>Copy it now: it is shown only once.</p>
        <Copyable label="Token" text={token.token} />
        <p className="hint">
          Programs send it as <code>Authorization: Bearer</code>; <code>svc login --token-stdin</code> saves it for the
          command line.
        </p>
      </Dialog>
    );
  return (
    <Dialog title="Create token" onClose={onClose}>
      <p>For programs and the command line. It may do what you may do, or less.</p>
      <Form form={form} submit="Create token" onCancel={onClose}>
        <TextField form={form} name="name" label="Name" hint="what the token is for" />
        <SelectField form={form} name="expires_in" label="Expires after" options={lifetimes} />
        <TextAreaField
          form={form}
          name="endpoints"
          label="Only these endpoints"
          rows={3}
          hint="one on each line, such as GET /hosts or POST /spec/*; empty: all that you may call"
        />
      </Form>
    </Dialog>
  );
}
