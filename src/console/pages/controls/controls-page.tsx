import { type ComponentType, lazy, type ReactElement, Suspense } from "react";
import type { Action } from "../../../api/access.ts";
import { Page } from "../../frame/page.tsx";
import { UrlTabs } from "../../parts/url-tabs.tsx";
import { maySomewhere } from "../../session.ts";

interface ControlsTab {
  readonly id: string;
  readonly name: string;
  /** What the user needs to be allowed on some team. */
  readonly action: Action;
  /** Loaded when the tab is first opened. */
  readonly Content: ComponentType;
}

const tabs: readonly ControlsTab[] = [
  {
    id: "profiles",
    name: "Profiles",
    action: "profiles:read",
    Content: lazy(() => import("../devices/profiles/profiles-tab.tsx")),
  },
  {
    id: "disk-encryption",
    name: "Disk encryption",
    action: "mdm:read",
    Content: lazy(() => import("../devices/disk-encryption/disk-encryption-tab.tsx")),
  },
  {
    id: "os-updates",
    name: "OS updates",
    action: "config:read",
    Content: lazy(() => import("../settings/os-settings/os-updates-tab.tsx")),
  },
  {
    id: "setup-experience",
    name: "Setup experience",
    action: "setup:read",
    Content: lazy(() => import("../delivery/setup-experience/setup-tab.tsx")),
  },
  {
    id: "scripts",
    name: "Scripts",
    action: "scripts:read",
    Content: lazy(() => import("../delivery/scripts/scripts-tab.tsx")),
  },
  {
    id: "batches",
    name: "Batches",
    action: "scripts:read",
    Content: lazy(() => import("../delivery/script-batches/batches-tab.tsx")),
  },
  {
    id: "variables",
    name: "Variables",
    action: "variables:read",
    Content: lazy(() => import("../settings/variables/variables-tab.tsx")),
  },
  {
    id: "certificates",
    name: "Certificates",
    action: "certificates:read",
    Content: lazy(() => import("../certificates/certificates/certificates-tab.tsx")),
  },
  {
    id: "commands",
    name: "Commands",
    action: "commands:read",
    Content: lazy(() => import("../devices/commands/commands-tab.tsx")),
  },
];

/** What the hosts of a team have to be like, and what is run on them. */
export default function ControlsPage(): ReactElement {
  return (
    <Page title="Controls">
      <UrlTabs
        label="Controls"
        tabs={tabs
          .filter(({ action }) => maySomewhere(action))
          .map(({ id, name, Content }) => ({
            id,
            name,
            content: () => (
              <Suspense fallback={<p className="loading">Loading</p>}>
                <Content />
              </Suspense>
            ),
          }))}
      />
    </Page>
  );
}
