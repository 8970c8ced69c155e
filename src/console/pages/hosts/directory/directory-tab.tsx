import { type ReactElement, useState } from "react";
import { type DirectoryCredentials, directoryApi } from "../../../../api/hosts/directory.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";

/** The cloud directory from which people, groups and departments are read. */
export function DirectoryTab(): ReactElement {
  const reply = useRead(directoryApi.credentials);
  return (
    <Card title="Cloud directory">
      <p className="quiet">People, groups and departments are read from it each hour, and shown with their hosts.</p>
      <Read from={reply} what="directory">
        {({ directory_graph_credentials: [credentials] }) => <Directory credentials={credentials ?? null} />}
      </Read>
    </Card>
  );
}

interface DirectoryProps {
  /** Null: no directory is connected. */
  readonly credentials: DirectoryCredentials | null;
}

function Directory({ credentials }: DirectoryProps): ReactElement {
  const [dialog, setDialog] = useState<"set" | "delete" | null>(null);
  const mayWrite = may("directory:write", null);
  const close = () => setDialog(null);
  return (
    <>
      {credentials === null ? (
        <p className="quiet">No directory is connected.</p>
      ) : (
        <Facts
          facts={[
            ["Tenant", credentials.tenant_id],
            ["App", credentials.client_id],
            ["State", <DirectoryState key="state" credentials={credentials} />],
            ["Last read", <Time key="time" value={credentials.last_synced_at} />],
            ["Error", credentials.last_sync_error],
          ]}
        />
      )}
      {mayWrite && (
        <p className="buttons after-table">
          <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("set")}>
            {credentials === null ? "Connect directory" : "Change credentials"}
          </button>
          {credentials !== null && (
            <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDialog("delete")}>
              Delete credentials
            </button>
          )}
        </p>
      )}
      {dialog === "set" && <CredentialsDialog credentials={credentials} onClose={close} />}
      {dialog === "delete" && <DeleteDialog onClose={close} />}
    </>
  );
}

const DirectoryState = ({ credentials }: { readonly credentials: DirectoryCredentials }): ReactElement =>
  credentials.credential_invalid ? (
    <Badge tone="bad">credentials refused</Badge>
  ) : credentials.last_sync_error !== "" ? (
    <Badge tone="bad">failed</Badge>
  ) : (
    <Badge tone="good">connected</Badge>
  );

interface CredentialsDialogProps extends DirectoryProps {
  readonly onClose: () => void;
}

const LIST = "directory_graph_credentials.0";

function CredentialsDialog({ credentials, onClose }: CredentialsDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    // Fields are named as the server names them in errors.
    initial: {
      [`${LIST}.tenant_id`]: credentials?.tenant_id ?? "",
      [`${LIST}.client_id`]: credentials?.client_id ?? "",
      [`${LIST}.client_secret`]: "",
    },
    hasDryRun: false,
    send: (values) => {
      const secret = values[`${LIST}.client_secret`];
      const entry = {
        tenant_id: values[`${LIST}.tenant_id`] ?? "",
        client_id: values[`${LIST}.client_id`] ?? "",
        ...(secret === "" ? {} : { client_secret: secret }),
      };
      return client.call(directoryApi.setCredentials, { body: { directory_graph_credentials: [entry] } });
    },
    onDone: async () => {
      notifyDone("The credentials are saved. The directory is read within the hour.");
      await outdate(directoryApi.credentials);
      onClose();
    },
  });
  return (
    <Dialog
      title={credentials === null ? "Connect directory" : "Change credentials"}
      hasChanges={form.isChanged}
      onClose={onClose}
    >
      <Form form={form} submit="Save" onCancel={onClose}>
        <TextField form={form} name={`${LIST}.tenant_id`} label="Tenant" hint="GUID of the directory" />
        <TextField form={form} name={`${LIST}.client_id`} label="App" hint="GUID of the app that is registered there" />
        <TextField
          form={form}
          name={`${LIST}.client_secret`}
          label="Secret of the app"
          type="password"
          autoComplete="new-password"
          {...(credentials === null ? {} : { hint: "empty: the stored one" })}
        />
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(directoryApi.setCredentials, { body: { directory_graph_credentials: [] } });
    notifyDone("The credentials are deleted.");
    await outdate(directoryApi.credentials);
  };
  return (
    <ConfirmDialog title="Delete the credentials" verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>The directory is no longer read. People and groups that were read from it stay.</p>
    </ConfirmDialog>
  );
}
