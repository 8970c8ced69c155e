import type { ReactElement } from "react";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Bars } from "../../../parts/pictures/bars.tsx";
import { Ring, type Slice } from "../../../parts/pictures/ring.tsx";
import { platformName } from "../../../parts/platforms.ts";
import { maySomewhere } from "../../../session.ts";
import { type UrlChange, useTeamId } from "../../../url.ts";

const MAX_PLATFORMS = 8;

interface StatusRow extends Slice {
  readonly title: string;
  readonly query: UrlChange;
}

interface Counts {
  readonly totals_hosts_count: number;
  readonly online_count: number;
  readonly offline_count: number;
  readonly missing_30_days_count: number;
  readonly new_count: number;
}

/** Hosts by status and platform. Missing hosts are counted as offline too, so they are taken off. */
const statusRows = (counts: Counts): readonly StatusRow[] => [
  { name: "online", title: "Online", tone: "good", count: counts.online_count, query: { status: "online" } },
  {
    name: "offline",
    title: "Offline",
    tone: "note",
    count: counts.offline_count - counts.missing_30_days_count,
    query: { where: "status = offline and not status = missing" },
  },
  {
    name: "missing",
    title: "Not seen for 30 days",
    tone: "bad",
    count: counts.missing_30_days_count,
    query: { status: "missing" },
  },
];

export function HostsCard(): ReactElement {
  const teamId = useTeamId();
  const reply = useRead(hostsApi.summary, { query: teamId === null ? {} : { team_id: teamId } }, { isLive: true });
  return (
    <Card title="Hosts" more={{ name: "All hosts", href: "/hosts" }}>
      <Read from={reply} what="hosts">
        {(counts) => (counts.totals_hosts_count === 0 ? <NoHosts /> : <HostCounts counts={counts} />)}
      </Read>
    </Card>
  );
}

const NoHosts = (): ReactElement => (
  <p>
    No host has enrolled yet.{" "}
    {maySomewhere("enroll_secrets:read") ? (
      <PageLink href="/hosts/new">Add hosts</PageLink>
    ) : (
      "Ask an administrator to add hosts."
    )}
  </p>
);

interface HostCountsProps {
  readonly counts: Counts & {
    readonly platforms: readonly { readonly platform: string; readonly hosts_count: number }[];
  };
}

function HostCounts({ counts }: HostCountsProps): ReactElement {
  const rows = statusRows(counts);
  const platforms = counts.platforms
    .toSorted((a, b) => b.hosts_count - a.hosts_count)
    .slice(0, MAX_PLATFORMS)
    .map(({ platform, hosts_count }) => ({
      key: platform,
      count: hosts_count,
      name: (
        <PageLink href="/hosts" query={{ where: `platform = ${JSON.stringify(platform)}` }}>
          {platformName(platform)}
        </PageLink>
      ),
    }));
  return (
    <>
      <div className="ring-and-table">
        <Ring thing="host" slices={rows} />
        <Bars
          label="Hosts by status"
          unit="Hosts"
          total={counts.totals_hosts_count}
          bars={[...rows, { title: "New within a day", count: counts.new_count, query: { status: "new" } }].map(
            ({ title, count, query }) => ({
              key: title,
              count,
              name: (
                <PageLink href="/hosts" query={query}>
                  {title}
                </PageLink>
              ),
            }),
          )}
          empty=""
        />
      </div>
      <Bars label="Hosts by platform" unit="Hosts" bars={platforms} total={counts.totals_hosts_count} empty="" />
    </>
  );
}
