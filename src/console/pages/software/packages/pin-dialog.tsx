import type { ReactElement } from "react";
import { type Package, packagesApi } from "../../../../api/software/packages.ts";
import { client } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { useOutdateOffers } from "./use-outdate-offers.ts";

interface PinDialogProps {
  readonly installer: Package;
  readonly onClose: () => void;
}

/** Keeps an app of the catalogue at a version, or lets it follow the newest. */
export default function PinDialog({ installer, onClose }: PinDialogProps): ReactElement {
  const outdate = useOutdateOffers();
  const form = useForm({
    initial: { version: installer.pinned_version ?? "" },
    send: ({ version }) => {
      const params = { id: String(installer.title_id) };
      return client.call(packagesApi.update, { params, body: { team_id: installer.team_id, version: version.trim() } });
    },
    onDone: ({ software_installer: { version } }) => {
      notifyDone(`The version ${version} is offered.`);
      void outdate();
      onClose();
    },
    hasDryRun: false,
  });
  return (
    <Dialog title={`Pin version of ${installer.name}`} hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        <TextField
          form={form}
          name="version"
          label="Version"
          placeholder={installer.version}
          hint="One that the catalogue has, such as 147.0.2, or ^147 for the newest 147. Empty: follow the newest."
        />
        {form.isSending && (
          <p role="status" className="message note">
            The server downloads the installer if it does not have it. This can take minutes.
          </p>
        )}
      </Form>
    </Dialog>
  );
}
