import { type ReactElement, useState } from "react";
import { invitesApi } from "../../../../api/accounts/invites.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Copyable } from "../../../parts/as-command.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { isPremium } from "../../../session.ts";
import { initialRoles, rolesBody } from "./roles.ts";
import { RolesField } from "./roles-field.tsx";

/** Invites a user by mail. A server that sends no mail returns the link, which is shown to be passed on. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const [link, setLink] = useState<string | null>(null);
  const form = useForm({
    initial: { name: "", email: "", ...initialRoles(), sso_enabled: false, mfa_enabled: false },
    send: ({ global_role, teams, mfa_enabled, ...rest }, options) => {
      const body = { ...rest, ...rolesBody({ global_role, teams }), ...(mfa_enabled ? { mfa_enabled } : {}) };
      return client.call(invitesApi.create, { body }, options);
    },
    onDone: async (reply, { email }) => {
      await outdate(invitesApi.list);
      if (reply.link !== undefined) return setLink(reply.link);
      notifyDone(`${email} is invited: the mail contains a link to choose a password.`);
      onClose();
    },
  });
  if (link !== null)
    return (
      <Dialog title={`Link for ${form.values.email}`} onClose={onClose}>
        <p>
          This server sends no mail. Pass the link on yourself: it is shown only now, and whoever opens it gets the
          account.
        </p>
        <Copyable label="Link of the invite" text={link} />
      </Dialog>
    );
  return (
    <Dialog title="Invite user" onClose={onClose}>
      <Form form={form} submit="Invite user" onCancel={onClose}>
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="email" label="Email" type="email" />
        <RolesField form={form} />
        <CheckField form={form} name="sso_enabled" label="Signs in with single sign-on" />
        {isPremium() && <CheckField form={form} name="mfa_enabled" label="Confirms each sign-in with a mailed link" />}
      </Form>
    </Dialog>
  );
}
