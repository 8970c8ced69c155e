import type { ReactElement } from "react";
import { type AppleStatus, appleTrustApi } from "../../../../api/devices/apple-trust.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { counted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { CheckField, FileField, Form } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";

interface CertificateDialogProps {
  readonly status: AppleStatus;
  readonly onClose: () => void;
}

interface CertificateValues extends Record<string, unknown> {
  readonly certificate: File | null;
  readonly private_key: File | null;
  readonly force: boolean;
}

const nothing: CertificateValues = { certificate: null, private_key: null, force: false };

/** Uploads the push certificate, which turns device management of Apple devices on. */
export function CertificateDialog({ status, onClose }: CertificateDialogProps): ReactElement {
  const outdate = useOutdate();
  const hasCertificate = status.push_certificate !== null;
  const form = useForm({
    initial: nothing,
    send: ({ force, ...files }, options) =>
      client.call(appleTrustApi.upload, { body: { ...files, ...(force ? { force } : {}) } as never }, options),
    onDone: async ({ devices_to_enroll_again: lost }) => {
      notifyDone(
        lost === 0
          ? "The push certificate is uploaded."
          : `The push certificate is uploaded. ${counted(lost, "device")} must enroll again.`,
      );
      await outdate(appleTrustApi.status, appConfigApi.get);
      onClose();
    },
  });
  return (
    <Dialog title={hasCertificate ? "Renew certificate" : "Upload certificate"} onClose={onClose}>
      <Form form={form} submit="Upload" onCancel={onClose}>
        <FileField
          form={form}
          name="certificate"
          label="Certificate"
          accept=".pem,.cer,.crt"
          hint="the file that Apple's portal gives for the newest request"
        />
        <FileField
          form={form}
          name="private_key"
          label="Private key"
          accept=".pem,.key"
          hint="only if the request was not created here"
        />
        {hasCertificate && (
          <CheckField
            form={form}
            name="force"
            label="Accept a certificate with another topic"
            hint="all Apple devices must then enroll again"
          />
        )}
      </Form>
    </Dialog>
  );
}
