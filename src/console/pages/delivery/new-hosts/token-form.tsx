import type { ReactElement } from "react";
import { type EnrollToken, newHostsApi } from "../../../../api/delivery/new-hosts.ts";
import { client } from "../../../api.ts";
import { CheckField, Form, SelectField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { useTeamChoice } from "../../../parts/one-team.tsx";

const lifetimes = [
  { value: "1h", label: "an hour" },
  { value: "24h", label: "a day" },
  { value: "7d", label: "a week" },
];

/** Makes a token for new hosts, which is shown once. */
export function TokenForm({ onToken }: { readonly onToken: (token: EnrollToken) => void }): ReactElement {
  const { teams, first } = useTeamChoice("enroll_secrets:read");
  const form = useForm({
    initial: { team_id: String(first), expires_in: "24h", sign_requests: false },
    send: (values, options) =>
      client.call(newHostsApi.createToken, { body: { ...values, team_id: Number(values.team_id) } }, options),
    onDone: onToken,
    hasDryRun: false,
  });
  return (
    <Form form={form} submit="Show commands">
      {teams.length > 1 && (
        <SelectField
          form={form}
          name="team_id"
          label="Team"
          options={teams.map(({ id, name }) => ({ value: String(id), label: name }))}
        />
      )}
      <SelectField form={form} name="expires_in" label="Can be used for" options={lifetimes} />
      <CheckField
        form={form}
        name="sign_requests"
        label="The agent signs its requests with a certificate"
        hint="Otherwise it proves which host it is by a key that it sends."
      />
    </Form>
  );
}
