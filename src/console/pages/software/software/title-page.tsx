import { lazy, type ReactElement, Suspense, useState } from "react";
import { useParams } from "wouter";
import { type SoftwareTitleDetails, softwareApi } from "../../../../api/software/software.ts";
import { queryString } from "../../../../client/requests.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { counted, formatted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { isPremium, may } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { InstallResults } from "../../delivery/software-installs/install-results.tsx";
import { StoreAppCard } from "../../delivery/store-apps/store-app-card.tsx";
import { useOfferTeam } from "../packages/offer-teams.ts";
import { PackageCard } from "../packages/package-card.tsx";
import { TeamChoice } from "../packages/team-choice.tsx";
import { TitleIcon } from "../packages/title-icon.tsx";

const breadcrumb = [{ name: "Software", href: "/software" }];

const RenameDialog = lazy(() => import("./rename-dialog.tsx"));

/** A software title with its versions, and what a team offers of it. */
export default function TitlePage(): ReactElement {
  const { id = "" } = useParams<{ id: string }>();
  const pageTeam = useTeamId();
  const teamId = useOfferTeam("packages:read") ?? pageTeam;
  const [isRenaming, setRenaming] = useState(false);
  const query = teamId === null ? {} : { team_id: teamId };
  const reply = useRead(softwareApi.title, { params: { id }, query }, { isLive: true });
  const title = reply.data?.software_title;
  return (
    <Page
      title={title === undefined ? "Software" : title.display_name || title.name}
      breadcrumb={breadcrumb}
      actions={
        <>
          <AsCommand
            command={`svc software get ${id}${teamId === null ? "" : ` --team ${teamId}`}`}
            method="GET"
            path={`/api/v1/svc/software/titles/${id}${queryString(query)}`}
          />
          {title?.bundle_identifier !== undefined && may("software:rename", null) && (
            <button type="button" className="plain" onClick={() => setRenaming(true)}>
              Rename
            </button>
          )}
        </>
      }
    >
      <Read from={reply} what="title">
        {({ software_title }) => (
          <>
            <div className="grid title-cards">
              <About title={software_title} />
              <Offered title={software_title} teamId={teamId} />
            </div>
            <Versions title={software_title} />
            <Results title={software_title} teamId={teamId} />
            {isRenaming && (
              <Suspense>
                <RenameDialog title={software_title} onClose={() => setRenaming(false)} />
              </Suspense>
            )}
          </>
        )}
      </Read>
    </Page>
  );
}

interface OfTeamProps {
  readonly title: SoftwareTitleDetails;
  readonly teamId: number | null;
}

/** What the team offers of the title. */
function Offered({ title, teamId }: OfTeamProps): ReactElement | null {
  if (!isPremium()) return null;
  if (teamId === null) return <TeamChoice />;
  const { software_package, app_store_app } = title;
  if (software_package !== null) return <PackageCard title={title} installer={software_package} teamId={teamId} />;
  if (app_store_app !== null) return <StoreAppCard title={title} app={app_store_app} teamId={teamId} />;
  if (!may("packages:read", roleTeam(teamId))) return null;
  return (
    <Card title="Package">
      <p>The team does not offer this title to its hosts.</p>
    </Card>
  );
}

/** Results are of what the team offers now. */
function Results({ title, teamId }: OfTeamProps): ReactElement | null {
  const { id, name, software_package, app_store_app } = title;
  if (teamId === null || (software_package === null && app_store_app === null)) return null;
  return <InstallResults title={{ id, name }} teamId={teamId} canUninstall={software_package !== null} />;
}

function About({ title }: { readonly title: SoftwareTitleDetails }): ReactElement {
  return (
    <Card title="About">
      <TitleIcon title={title} />
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
