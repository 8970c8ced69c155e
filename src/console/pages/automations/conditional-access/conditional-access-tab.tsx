import { type ReactElement, useState } from "react";
import { conditionalAccessApi, type DirectoryConnection } from "../../../../api/automations/conditional-access.ts";
import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { Time } from "../../../parts/time.tsx";
import { isPremium, may } from "../../../session.ts";
import { ConfigPart } from "../../settings/app-config/config-part.tsx";
import { ConnectDialog } from "./connect-dialog.tsx";

/** Only hosts that pass the policies of their team may sign in to other services. */
export const ConditionalAccessTab = (): ReactElement => (
  <>
    <ConfigPart id="conditional-access" name="Conditional access" />
    {isPremium() && (
      <>
        <Downloads />
        {may("config:read", null) && <Connection />}
      </>
    )}
  </>
);

/** What the access product and Macs need. */
function Downloads(): ReactElement {
  const download = (endpoint: AnyEndpoint) =>
    request(async () => saveFile(await client.download(endpoint))).catch(notifyFailed);
  return (
    <Card title="Files for the access product and for Macs">
      <p className="buttons">
        {may("config:read", null) && (
          <button type="button" className="plain" onClick={() => void download(conditionalAccessApi.signingCert)}>
            Download signing certificate
          </button>
        )}
        {may("enroll_secrets:read", null) && (
          <button type="button" className="plain" onClick={() => void download(conditionalAccessApi.profile)}>
            Download profile for Macs
          </button>
        )}
      </p>
      {may("enroll_secrets:read", null) && <p className="quiet">The profile contains an enroll secret.</p>}
    </Card>
  );
}

function Connection(): ReactElement {
  const reply = useRead(conditionalAccessApi.directory, {}, { isLive: true });
  return (
    <Card title="Connection with the cloud directory">
      <Read from={reply} what="connection">
        {(connection) => (
          <>
            <ConnectionFacts connection={connection} />
            {may("conditional_access:write", null) && <ConnectionButtons connection={connection} />}
          </>
        )}
      </Read>
    </Card>
  );
}

interface ConnectionProps {
  readonly connection: DirectoryConnection;
}

function ConnectionFacts({ connection }: ConnectionProps): ReactElement {
  const { directory_tenant_id: tenant, connected, devices, last_reported_at, paused_until, last_error } = connection;
  if (tenant === "") return <p className="quiet">The directory is not told which devices comply.</p>;
  return (
    <Facts
      facts={[
        ["Tenant", tenant],
        [
          "State",
          connected ? (
            <Badge key="state" tone="good">
              connected
            </Badge>
          ) : (
            <Badge key="state" tone="note">
              waits for the consent of the directory's administrator
            </Badge>
          ),
        ],
        ["Devices that comply", devices.compliant],
        ["Devices that do not", devices.noncompliant],
        ["Not reported yet", devices.unreported],
        ["Refused by the directory", devices.failing],
        ["Last report", <Time key="reported" value={last_reported_at} />],
        ["Paused until", paused_until === null ? null : <Time key="paused" value={paused_until} />],
        ["Error", last_error],
      ]}
    />
  );
}

function ConnectionButtons({ connection }: ConnectionProps): ReactElement {
  const outdate = useOutdate();
  const [dialog, setDialog] = useState<"connect" | "disconnect" | null>(null);
  const isBegun = connection.directory_tenant_id !== "";
  const confirm = () =>
    request(async () => {
      const { configuration_completed } = await client.call(conditionalAccessApi.confirm);
      notifyDone(
        configuration_completed
          ? "The directory is connected."
          : "The directory's administrator has not consented yet.",
      );
      await outdate(conditionalAccessApi.directory, appConfigApi.get);
    }).catch(notifyFailed);
  const disconnect = async () => {
    await client.call(conditionalAccessApi.disconnect);
    notifyDone("The connection is removed.");
    await outdate(conditionalAccessApi.directory, appConfigApi.get);
  };
  return (
    <div className="buttons after-table">
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("connect")}>
        {isBegun ? "Connect another tenant" : "Connect"}
      </button>
      {isBegun && !connection.connected && (
        <button type="button" className="plain" onClick={() => void confirm()}>
          Check consent
        </button>
      )}
      {isBegun && (
        <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDialog("disconnect")}>
          Disconnect
        </button>
      )}
      {dialog === "connect" && <ConnectDialog connection={connection} onClose={() => setDialog(null)} />}
      {dialog === "disconnect" && (
        <ConfirmDialog
          title="Disconnect the directory"
          verb="Disconnect"
          onConfirm={disconnect}
          onClose={() => setDialog(null)}
        >
          <p>The directory is no longer told which devices comply. What it knows of them stays there.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
