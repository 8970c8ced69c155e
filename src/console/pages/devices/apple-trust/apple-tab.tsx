import { type ReactElement, useState } from "react";
import { type AppleStatus, appleTrustApi } from "../../../../api/devices/apple-trust.ts";
import { useRead } from "../../../api.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { counted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { may } from "../../../session.ts";
import { ConfigPart } from "../../settings/app-config/config-part.tsx";
import { Expiry } from "../expiry.tsx";
import { CertificateDialog } from "./certificate-dialog.tsx";
import { DeleteCertificateDialog, RequestDialog } from "./certificate-dialogs.tsx";

/** The push certificate, and the settings of Apple devices. */
export const AppleTab = (): ReactElement => (
  <>
    {may("mdm:trust", null) && <Trust />}
    <ConfigPart id="apple-devices" name="Apple devices" />
  </>
);

function Trust(): ReactElement {
  const reply = useRead(appleTrustApi.status);
  return (
    <Read from={reply} what="certificates">
      {(status) => (
        <>
          <Card title="Push certificate">
            <StatusFacts status={status} />
            <CertificateButtons status={status} />
          </Card>
          <Card title="Certificates of device management">
            <SmallTable
              name="Certificates"
              rows={status.expiring}
              keyOf={({ name }) => name}
              columns={[
                { name: "Certificate", cell: ({ name }) => name },
                { name: "Ends", cell: ({ not_valid_after }) => <Expiry value={not_valid_after} /> },
              ]}
              empty="There are no certificates yet."
            />
          </Card>
        </>
      )}
    </Read>
  );
}

interface StatusProps {
  readonly status: AppleStatus;
}

function StatusFacts({ status }: StatusProps): ReactElement {
  const { enabled, push_certificate: certificate, request_pending, signs_requests, signs_profiles } = status;
  const lost = status.devices_to_enroll_again;
  return (
    <>
      {!enabled && (
        <p>
          Apple devices cannot be managed yet. Download a request for a certificate, get the certificate from Apple's
          portal, and upload it here.
        </p>
      )}
      {lost > 0 && (
        <p className="message note">
          {counted(lost, "device")} enrolled with another URL of this server, and must enroll again to connect.
        </p>
      )}
      <Facts
        facts={[
          [
            "State",
            <Badge key="state" tone={enabled ? "good" : "quiet"}>
              {enabled ? "on" : "off"}
            </Badge>,
          ],
          ["Name", certificate?.common_name],
          ["Topic", certificate?.topic],
          ["Serial number", certificate?.serial_number],
          ["Issuer", certificate?.issuer],
          ["Ends", certificate === null ? null : <Expiry key="ends" value={certificate.renew_date} />],
          ["Request", request_pending ? "waits for its certificate" : null],
          ["Requests", signs_requests ? "are signed for Apple's portal" : "have to be signed by a vendor first"],
          ["Profiles", signs_profiles ? "are signed" : "are not signed"],
          ["Devices connect to", status.server_url],
        ]}
      />
    </>
  );
}

function CertificateButtons({ status }: StatusProps): ReactElement {
  const [dialog, setDialog] = useState<"request" | "upload" | "delete" | null>(null);
  const close = () => setDialog(null);
  const hasCertificate = status.push_certificate !== null;
  return (
    <div className="buttons after-table">
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("request")}>
        Create request
      </button>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("upload")}>
        {hasCertificate ? "Renew certificate" : "Upload certificate"}
      </button>
      {hasCertificate && (
        <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDialog("delete")}>
          Delete certificate
        </button>
      )}
      <AsCommand command="svc mdm apple status" method="GET" path="/api/latest/svc/mdm/vendora/status" />
      {dialog === "request" && <RequestDialog status={status} onClose={close} />}
      {dialog === "upload" && <CertificateDialog status={status} onClose={close} />}
      {dialog === "delete" && <DeleteCertificateDialog onClose={close} />}
    </div>
  );
}
