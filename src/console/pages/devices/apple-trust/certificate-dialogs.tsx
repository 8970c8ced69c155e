import type { ReactElement } from "react";
import { type AppleStatus, appleTrustApi } from "../../../../api/devices/apple-trust.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { saveFile } from "../../../parts/save-file.ts";

interface RequestDialogProps {
  readonly status: AppleStatus;
  readonly onClose: () => void;
}

/** Creates a request for a push certificate, and gives it as a file. */
export function RequestDialog({ status, onClose }: RequestDialogProps): ReactElement {
  const outdate = useOutdate();
  const create = async () => {
    const { csr } = await client.call(appleTrustApi.request);
    saveFile({ name: "push-request.csr", content: new Blob([requestText(csr)], { type: "text/plain" }) });
    notifyDone("The request is created, and saved as a file.");
    await outdate(appleTrustApi.status);
  };
  return (
    <ConfirmDialog
      title="Create a request for a push certificate"
      verb="Create"
      isDangerous={false}
      onConfirm={create}
      onClose={() => onClose()}
    >
      <p>
        {status.signs_requests
          ? "Upload the file in Apple's portal for push certificates, and the certificate that it gives here."
          : "A vendor or a signing service signs the file. Then upload it in Apple's portal for push certificates, and the certificate that the portal gives here."}
      </p>
      {status.request_pending && <p>The request before becomes void: its certificate would no longer be accepted.</p>}
      {status.push_certificate !== null && (
        <p>
          In the portal, renew the certificate with the serial number {status.push_certificate.serial_number}. A new one
          would be for another topic, and all devices would have to enroll again.
        </p>
      )}
    </ConfirmDialog>
  );
}

/** The portal takes a signed request in base64, a vendor takes a plain one as PEM. */
function requestText(csr: string): string {
  const decoded = atob(csr);
  return decoded.startsWith("-----BEGIN") ? decoded : `${csr}\n`;
}

export function DeleteCertificateDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(appleTrustApi.delete);
    notifyDone("The push certificate is deleted.");
    await outdate(appleTrustApi.status, appConfigApi.get);
  };
  return (
    <ConfirmDialog
      title="Delete the push certificate"
      verb="Delete"
      typed="push certificate"
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>
        Apple devices can no longer be managed. If another certificate is uploaded later that is for another topic, all
        of them must enroll again. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
