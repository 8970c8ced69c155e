import type { ReactElement } from "react";
import { UrlTabs } from "../../../parts/url-tabs.tsx";
import { isPremium, may } from "../../../session.ts";
import { ConditionalAccessTab } from "../../automations/conditional-access/conditional-access-tab.tsx";
import { DirectoryTab } from "../../hosts/directory/directory-tab.tsx";
import { ConfigEntries } from "../app-config/config-entries.tsx";
import { ConfigPart } from "../app-config/config-part.tsx";
import { ConfigCommand } from "../app-config/config-section.tsx";
import { calendars, helpDesks, ticketTrackers } from "../app-config/entry-lists.ts";
import { SectionPage } from "../section-page.tsx";

/** Services of others that this server uses, or that use it. */
export default function IntegrationsSection(): ReactElement {
  return (
    <SectionPage id="integrations" actions={<ConfigCommand id="certificate-requests" />}>
      <UrlTabs
        label="Integrations"
        tabs={[
          { id: "tickets", name: "Tickets", content: () => <Tickets /> },
          { id: "calendars", name: "Calendars", content: () => <ConfigEntries list={calendars} /> },
          { id: "conditional-access", name: "Conditional access", content: () => <ConditionalAccessTab /> },
          ...(isPremium() && may("directory:read", null)
            ? [{ id: "directory", name: "Directory", content: () => <DirectoryTab /> }]
            : []),
          {
            id: "certificate-requests",
            name: "Certificate requests",
            content: () => <ConfigPart id="certificate-requests" name="Certificate requests" />,
          },
        ]}
      />
    </SectionPage>
  );
}

const Tickets = (): ReactElement => (
  <>
    <ConfigEntries list={ticketTrackers} />
    <ConfigEntries list={helpDesks} />
  </>
);
