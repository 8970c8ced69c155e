import type { ReactElement } from "react";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";

interface OrganizationFormProps {
  readonly name: string;
  readonly serverUrl: string;
}

/** The two settings that every server needs. The names of the fields are those of the server's errors. */
export function OrganizationForm({ name, serverUrl }: OrganizationFormProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { "org_info.org_name": name, "server_settings.server_url": serverUrl },
    send: (_, options, changed) => {
      const { "org_info.org_name": org_name, "server_settings.server_url": server_url } = changed;
      const body = {
        ...(org_name === undefined ? {} : { org_info: { org_name } }),
        ...(server_url === undefined ? {} : { server_settings: { server_url } }),
      };
      return client.call(appConfigApi.modify, { body }, options);
    },
    onDone: () => {
      notifyDone("The organization is saved.");
      void outdate(appConfigApi.get);
      // The banner shows the name of the organization.
      void session.renew();
    },
  });
  return (
    <Form form={form} submit="Save">
      <TextField form={form} name="org_info.org_name" label="Organization" autoComplete="organization" />
      <TextField
        form={form}
        name="server_settings.server_url"
        label="Address of this server"
        type="url"
        hint="agents and browsers use it"
      />
    </Form>
  );
}
