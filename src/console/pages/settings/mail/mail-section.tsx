import { type ReactElement, useState } from "react";
import { mailApi } from "../../../../api/settings/mail.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";
import { ConfigPart } from "../app-config/config-part.tsx";
import { ConfigCommand } from "../app-config/config-section.tsx";
import { bodyOf } from "../app-config/fields.ts";
import type { SettingChange } from "../app-config/setting-types.ts";
import { SectionPage } from "../section-page.tsx";

export default function MailSection(): ReactElement {
  return (
    <SectionPage id="mail" actions={<ConfigCommand id="mail" />}>
      <p>
        The server mails invites, links to sign in and to choose a password, and what fails on hosts. Without mail,
        these links are shown to those who create them.
      </p>
      <ConfigPart id="mail" name="Mail" extra={(unsaved) => <TestMail unsaved={unsaved} />} />
    </SectionPage>
  );
}

interface TestMailProps {
  readonly unsaved: () => readonly SettingChange[];
}

/** Sends a mail with the settings of the form, before they are saved. */
function TestMail({ unsaved }: TestMailProps): ReactElement {
  const [changes, setChanges] = useState<readonly SettingChange[] | null>(null);
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setChanges(unsaved())}>
        Send test mail
      </button>
      {changes !== null && <TestMailDialog changes={changes} onClose={() => setChanges(null)} />}
    </>
  );
}

interface TestMailDialogProps {
  readonly changes: readonly SettingChange[];
  readonly onClose: () => void;
}

function TestMailDialog({ changes, onClose }: TestMailDialogProps): ReactElement {
  const form = useForm({
    initial: { to: session.data.user.email },
    hasDryRun: false,
    send: ({ to }) => client.call(mailApi.testMail, { body: { to, ...bodyOf(changes) } }),
    onDone: ({ sent_to }) => {
      notifyDone(`The mail server accepted a mail to ${sent_to}.`);
      onClose();
    },
  });
  return (
    <Dialog title="Send test mail" onClose={onClose}>
      <p>
        {changes.length === 0 ? "The saved settings are used." : "The settings of the form are used, and not saved."}
      </p>
      <Form form={form} submit="Send" onCancel={onClose}>
        <TextField form={form} name="to" label="To" type="email" />
      </Form>
    </Dialog>
  );
}
