import { type ReactElement, useState } from "react";
import { conditionalAccessApi, type DirectoryConnection } from "../../../../api/automations/conditional-access.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, useOutdate } from "../../../api.ts";
import { Copyable } from "../../../parts/as-command.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";

interface ConnectDialogProps {
  readonly connection: DirectoryConnection;
  readonly onClose: () => void;
}

/** Begins to connect the directory, and shows the address at which its administrator consents. */
export function ConnectDialog({ connection, onClose }: ConnectDialogProps): ReactElement {
  const outdate = useOutdate();
  const [address, setAddress] = useState<string | null>(null);
  const form = useForm({
    initial: { directory_tenant_id: connection.directory_tenant_id },
    hasDryRun: false,
    send: (body) => client.call(conditionalAccessApi.connect, { body }),
    onDone: async ({ directory_authentication_url }) => {
      setAddress(directory_authentication_url);
      await outdate(conditionalAccessApi.directory, appConfigApi.get);
    },
  });
  if (address !== null)
    return (
      <Dialog title="Consent of the directory's administrator" isWide onClose={onClose}>
        <p>An administrator of the directory opens this address and consents. Then choose “Check consent”.</p>
        <Copyable label="Address" text={address} />
      </Dialog>
    );
  return (
    <Dialog title="Connect the directory" onClose={onClose}>
      <Form form={form} submit="Connect" onCancel={onClose}>
        <TextField form={form} name="directory_tenant_id" label="Tenant" hint="GUID of the directory" />
      </Form>
    </Dialog>
  );
}
