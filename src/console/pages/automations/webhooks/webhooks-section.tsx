import { type ReactElement, useState } from "react";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { may } from "../../../session.ts";
import { ConfigPart } from "../../settings/app-config/config-part.tsx";
import { ConfigCommand } from "../../settings/app-config/config-section.tsx";
import { SectionPage } from "../../settings/section-page.tsx";
import { DeliveriesTab } from "./deliveries-tab.tsx";
import { DestinationsTab } from "./destinations-tab.tsx";
import { TestDialog } from "./test-dialog.tsx";

/** What is sent to other servers when something happens, and what became of it. */
export default function WebhooksSection(): ReactElement {
  const [isTesting, setTesting] = useState(false);
  const mayWrite = may("webhooks:write", null);
  return (
    <SectionPage
      id="webhooks"
      actions={
        <>
          <ConfigCommand id="webhooks" />
          {mayWrite && (
            <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setTesting(true)}>
              Send sample
            </button>
          )}
        </>
      }
    >
      {mayWrite ? (
        <UrlTabs
          label="Webhooks"
          tabs={[
            { id: "settings", name: "Settings", content: () => <ConfigPart id="webhooks" name="Webhooks" /> },
            { id: "deliveries", name: "Deliveries", content: () => <DeliveriesTab /> },
            { id: "destinations", name: "Destinations", content: () => <DestinationsTab /> },
          ]}
        />
      ) : (
        <ConfigPart id="webhooks" name="Webhooks" />
      )}
      {isTesting && <TestDialog onClose={() => setTesting(false)} />}
    </SectionPage>
  );
}
