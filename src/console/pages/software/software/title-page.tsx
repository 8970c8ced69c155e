import type { ReactElement } from "react";
import { useParams } from "wouter";
import { type SoftwareTitleDetails, softwareApi } from "../../../../api/software/software.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { counted, formatted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { useTeamId } from "../../../url.ts";

const breadcrumb = [{ name: "Software", href: "/software" }];

/** A software title with its versions, and what this server can install of it. */
export default function TitlePage(): ReactElement {
  const { id = "" } = useParams<{ id: string }>();
  const teamId = useTeamId();
  const query = teamId === null ? {} : { team_id: teamId };
  const reply = useRead(softwareApi.title, { params: { id }, query });
  const title = reply.data?.software_title;
  return (
    <Page
      title={title === undefined ? "Software" : title.display_name || title.name}
      breadcrumb={breadcrumb}
      actions={<AsCommand command={`svc software get ${id}`} method="GET" path={`/api/v1/svc/software/titles/${id}`} />}
    >
      <Read from={reply} what="title">
        {({ software_title }) => (
          <>
            <About title={software_title} />
            <Packages title={software_title} />
            <Versions title={software_title} />
          </>
        )}
      </Read>
    </Page>
  );
}

function About({ title }: { readonly title: SoftwareTitleDetails }): ReactElement {
  return (
    <Card title="About">
      <Facts
        facts={[
          ["Name", title.name],
          ["Kind", title.source.replaceAll("_", " ")],
          ["Extension of", title.extension_for],
          ["Bundle identifier", title.bundle_identifier],
          [
            "Hosts",
            <PageLink key="hosts" href="/hosts" query={{ software_title_id: title.id }}>
              {counted(title.hosts_count, "host")}
            </PageLink>,
          ],
        ]}
      />
    </Card>
  );
}

/** The states of installations that this server was asked for, each of which opens its hosts. */
const installStates = [
  ["installed", "Installed"],
  ["pending_install", "Waiting"],
  ["failed_install", "Failed"],
  ["pending_uninstall", "Waiting to be removed"],
  ["failed_uninstall", "Removal failed"],
] as const;

function Packages({ title }: { readonly title: SoftwareTitleDetails }): ReactElement | null {
  const packages = title.packages ?? (title.software_package === null ? [] : [title.software_package]);
  if (packages.length === 0) return null;
  return (
    <Card title="Packages">
      {packages.map((installer) => (
        <Facts
          key={installer.installer_id}
          facts={[
            ["Package", installer.name],
            ["Version", installer.version],
            ["Self-service", installer.self_service ? "yes" : "no"],
            ...installStates.map(
              ([state, name]) =>
                [
                  name,
                  installer.status[state] > 0 && (
                    <PageLink href="/hosts" query={{ software_title_id: title.id, software_status: state }}>
                      {counted(installer.status[state], "host")}
                    </PageLink>
                  ),
                ] as const,
            ),
          ]}
        />
      ))}
    </Card>
  );
}

function Versions({ title }: { readonly title: SoftwareTitleDetails }): ReactElement {
  return (
    <Card title="Versions">
      <SmallTable
        name="Versions"
        rows={title.versions}
        keyOf={({ id }) => id}
        columns={[
          { name: "Version", cell: ({ version }) => version },
          {
            name: "Vulnerabilities",
            cell: ({ vulnerabilities }) => (
              <ul className="inline-list">
                {(vulnerabilities ?? []).slice(0, 5).map((cve) => (
                  <li key={cve}>
                    <PageLink href={`/vulnerabilities/${cve}`}>{cve}</PageLink>
                  </li>
                ))}
                {(vulnerabilities ?? []).length > 5 && (
                  <li>
                    <Badge tone="bad">{`and ${(vulnerabilities ?? []).length - 5} more`}</Badge>
                  </li>
                )}
              </ul>
            ),
          },
          {
            name: "Hosts",
            isNumber: true,
            cell: ({ id, hosts_count }) => (
              <PageLink href="/hosts" query={{ software_version_id: id }}>
                {formatted(hosts_count)}
              </PageLink>
            ),
          },
        ]}
        empty="No host has it."
      />
    </Card>
  );
}
