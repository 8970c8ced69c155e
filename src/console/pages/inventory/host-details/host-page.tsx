import type { ReactElement } from "react";
import { useParams } from "wouter";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { shellArgument } from "../../../../text/shell.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { type Tab, Tabs } from "../../../parts/tabs.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { ActivityTab } from "./activity-tab.tsx";
import { Attention } from "./attention.tsx";
import { CertificatesTab } from "./certificates-tab.tsx";
import { CommandsTab } from "./commands-tab.tsx";
import { DetailsTab } from "./details-tab.tsx";
import { HostActions } from "./host-actions.tsx";
import { PoliciesTab } from "./policies-tab.tsx";
import { ProfilesTab } from "./profiles-tab.tsx";
import { ReportsTab } from "./reports-tab.tsx";
import { ScriptsTab } from "./scripts-tab.tsx";
import { SoftwareTab } from "./software-tab.tsx";

interface HostTab extends Tab {
  readonly isShown: (host: Host) => boolean;
  readonly content: (props: { readonly host: Host }) => ReactElement;
}

const tabs: readonly HostTab[] = [
  { id: "details", name: "Details", isShown: () => true, content: DetailsTab },
  { id: "policies", name: "Policies", isShown: () => true, content: PoliciesTab },
  { id: "software", name: "Software", isShown: ({ team_id }) => may("software:list", team_id), content: SoftwareTab },
  { id: "profiles", name: "Profiles", isShown: () => true, content: ProfilesTab },
  { id: "commands", name: "Commands", isShown: ({ team_id }) => may("commands:read", team_id), content: CommandsTab },
  { id: "scripts", name: "Scripts", isShown: ({ team_id }) => may("scripts:read", team_id), content: ScriptsTab },
  { id: "reports", name: "Reports", isShown: () => true, content: ReportsTab },
  { id: "certificates", name: "Certificates", isShown: () => true, content: CertificatesTab },
  {
    id: "activity",
    name: "Activity",
    isShown: ({ team_id }) => may("hosts:read_activities", team_id),
    content: ActivityTab,
  },
];

const breadcrumb = [{ name: "Hosts", href: "/hosts" }];

export default function HostPage(): ReactElement {
  const { id = "", tab = "details" } = useParams<{ id: string; tab?: string }>();
  const go = useGo();
  const input = { params: { id }, query: { exclude_software: true } };
  const reply = useRead(hostsApi.get, input, { isLive: true });
  const host = reply.data?.host;
  const title = host === undefined ? "Host" : host.display_name || host.hostname || `Host ${host.id}`;
  const shown = tabs.filter(({ isShown }) => host !== undefined && isShown(host));
  const selected = shown.find((candidate) => candidate.id === tab) ?? shown[0];
  return (
    <Page title={title} breadcrumb={breadcrumb} actions={host !== undefined && <Head host={host} />}>
      <Read from={reply} what="host">
        {() =>
          host !== undefined &&
          selected !== undefined && (
            <>
              <Attention host={host} />
              <Tabs
                label="Parts of the host"
                tabs={shown}
                selected={selected.id}
                onSelect={(next) => go(`/hosts/${id}/${next}`)}
              >
                <selected.content host={host} />
              </Tabs>
            </>
          )
        }
      </Read>
    </Page>
  );
}

function Head({ host }: { readonly host: Host }): ReactElement {
  return (
    <>
      <span>
        <Badge tone={host.status === "online" ? "good" : "quiet"}>{host.status}</Badge>{" "}
        <span className="quiet">
          seen <Time value={host.seen_time} />
        </span>
      </span>
      <AsCommand
        command={`svc hosts get ${shellArgument(host.display_name)}`}
        method="GET"
        path={`/api/v1/svc/hosts/${host.id}`}
      />
      <HostActions host={host} />
    </>
  );
}
