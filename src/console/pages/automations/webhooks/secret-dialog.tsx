import { type ReactElement, useState } from "react";
import { type Destination, webhooksApi } from "../../../../api/automations/webhooks.ts";
import { client, useOutdate } from "../../../api.ts";
import { Copyable } from "../../../parts/as-command.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";

interface SecretDialogProps {
  readonly destination: Destination;
  readonly onClose: () => void;
}

/** Creates a new signing secret, which is shown once. */
export default function SecretDialog({ destination, onClose }: SecretDialogProps): ReactElement {
  const outdate = useOutdate();
  const [secret, setSecret] = useState<string | null>(null);
  const { url } = destination;
  if (secret !== null)
    return (
      <Dialog title={`Signing secret for ${url}`} onClose={onClose}>
        <p>It is shown only now. Store it in the receiver, which refuses requests until then.</p>
        <Copyable label="Signing secret" text={secret} />
      </Dialog>
    );
  const rotate = async () => {
    const { destination: changed } = await client.call(webhooksApi.modifyDestination, {
      body: { url, rotate_secret: true },
    });
    setSecret(changed.signing_secret);
    await outdate(webhooksApi.destinations);
    return "shown";
  };
  return (
    <ConfirmDialog
      title={`New signing secret for ${url}`}
      verb="Create"
      onConfirm={rotate}
      onClose={(result) => result === undefined && onClose()}
    >
      <p>Requests are signed with the new secret at once. The receiver refuses them until it knows the new secret.</p>
    </ConfirmDialog>
  );
}
