import type { ReactElement } from "react";
import { Page } from "../../frame/page.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { isPremium, maySomewhere } from "../../session.ts";
import { ApprovalsTab } from "./approvals-tab.tsx";
import { OperationsTab } from "./operations-tab.tsx";
import { PlansTab } from "./plans-tab.tsx";
import { TasksTab } from "./tasks-tab.tsx";

/** What waits for a decision, and what the servers are doing. */
export default function ChangesPage(): ReactElement {
  return (
    <Page title="Changes">
      <UrlTabs
        label="Changes"
        tabs={[
          ...(isPremium() ? [{ id: "approvals", name: "Approvals", content: () => <ApprovalsTab /> }] : []),
          ...(maySomewhere("hosts:read_activities")
            ? [{ id: "operations", name: "Operations", content: () => <OperationsTab /> }]
            : []),
          { id: "plans", name: "Plans", content: () => <PlansTab /> },
          { id: "tasks", name: "Tasks", content: () => <TasksTab /> },
        ]}
      />
    </Page>
  );
}
