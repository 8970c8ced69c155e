import { type ReactElement, useState } from "react";
import { androidApi } from "../../../../api/devices/android.ts";
import { appConfigApi } from "../../../../api/settings/app-config.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";

/** The organization at the vendor with which Android devices are managed. */
export function AndroidTab(): ReactElement {
  const config = useRead(appConfigApi.get, {}, { isLive: true });
  return (
    <Card title="Android">
      <Read from={config} what="settings">
        {({ mdm }) => (mdm.android_enabled_and_configured ? <Enterprise /> : <SignUp />)}
      </Read>
    </Card>
  );
}

function Enterprise(): ReactElement {
  const reply = useRead(androidApi.get);
  const outdate = useOutdate();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await client.call(androidApi.delete);
    notifyDone("Device management of Android is turned off.");
    await outdate(appConfigApi.get);
  };
  return (
    <>
      <Read from={reply} what="organization">
        {({ android_enterprise_id: id }) => (
          <Facts
            facts={[
              [
                "State",
                <Badge key="state" tone="good">
                  on
                </Badge>,
              ],
              ["Organization at Google", id],
            ]}
          />
        )}
      </Read>
      <div className="buttons after-table">
        <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDeleting(true)}>
          Turn off
        </button>
        <AsCommand command="svc mdm android status" method="GET" path="/api/latest/svc/android_enterprise" />
        {isDeleting && (
          <ConfirmDialog
            title="Turn off device management of Android"
            verb="Turn off"
            typed="Android"
            onConfirm={remove}
            onClose={() => setDeleting(false)}
          >
            <p>
              The organization at Google is deleted, and its devices leave: work profiles with their data are removed
              from them. This cannot be undone.
            </p>
          </ConfirmDialog>
        )}
      </div>
    </>
  );
}

/** The vendor's page for the sign-up; when it has ended, the settings say so. */
function SignUp(): ReactElement {
  const [address, setAddress] = useState<string | null>(null);
  const begin = () =>
    request(async () => setAddress((await client.call(androidApi.signUp)).android_enterprise_signup_url)).catch(
      notifyFailed,
    );
  return (
    <>
      <p>
        Android devices cannot be managed yet. The organization signs up at Google, with an account that manages no
        other organization there.
      </p>
      {address === null ? (
        <button type="button" className="plain" onClick={() => void begin()}>
          Turn on
        </button>
      ) : (
        <p role="status">
          <a href={address} target="_blank" rel="noreferrer">
            Sign up at Google
          </a>{" "}
          in another window. This page shows when it is done.
        </p>
      )}
    </>
  );
}
