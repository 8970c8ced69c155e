import type { ReactElement } from "react";
import { osVersionsApi } from "../../../../api/software/os-versions.ts";
import { vulnerabilitiesApi } from "../../../../api/software/vulnerabilities.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Bars } from "../../../parts/pictures/bars.tsx";
import { isPremium } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";

const MAX_ROWS = 6;

export function VulnerabilitiesCard(): ReactElement {
  const teamId = useTeamId();
  const query = {
    order_key: "hosts_count",
    order_direction: "desc",
    page: 0,
    per_page: MAX_ROWS,
    ...(isPremium() ? { exploit: true } : {}),
    ...(teamId === null ? {} : { team_id: teamId }),
  } as const;
  const reply = useRead(vulnerabilitiesApi.list, { query });
  const title = isPremium() ? "Exploited vulnerabilities" : "Vulnerabilities";
  return (
    <Card title={title} more={{ name: "All vulnerabilities", href: "/software", query: { tab: "vulnerabilities" } }}>
      <Read from={reply} what="vulnerabilities">
        {({ vulnerabilities, vulnerability_data_imported_at: imported }) => (
          <Bars
            label={title}
            unit="Hosts"
            bars={vulnerabilities.map(({ cve, hosts_count, cvss_score }) => ({
              key: cve,
              count: hosts_count,
              name: (
                <>
                  <PageLink href={`/vulnerabilities/${cve}`}>{cve}</PageLink>{" "}
                  {cvss_score != null && cvss_score >= 9 && <Badge tone="bad">{cvss_score}</Badge>}
                </>
              ),
            }))}
            empty={imported === null ? "No vulnerability data was imported yet." : "None on these hosts."}
          />
        )}
      </Read>
    </Card>
  );
}

export function OsVersionsCard(): ReactElement {
  const teamId = useTeamId();
  const query = {
    order_key: "hosts_count",
    order_direction: "desc",
    page: 0,
    per_page: MAX_ROWS,
    max_vulnerabilities: 0,
    ...(teamId === null ? {} : { team_id: teamId }),
  } as const;
  const reply = useRead(osVersionsApi.list, { query });
  return (
    <Card title="Operating systems" more={{ name: "All versions", href: "/software", query: { tab: "os" } }}>
      <Read from={reply} what="operating systems">
        {({ os_versions }) => (
          <Bars
            label="Hosts by operating system"
            unit="Hosts"
            bars={os_versions.map(({ os_version_id, name, hosts_count }) => ({
              key: os_version_id,
              count: hosts_count,
              name: (
                <PageLink href="/hosts" query={{ os_version_id }}>
                  {name}
                </PageLink>
              ),
            }))}
            empty="Hosts are counted within the hour."
          />
        )}
      </Read>
    </Card>
  );
}
