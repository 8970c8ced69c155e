import type { ReactElement } from "react";
import { reportsApi } from "../../../../api/edge/reports.ts";
import { type OsVersion, osVersionsApi } from "../../../../api/software/os-versions.ts";
import { type SoftwareTitle, type SoftwareVersion, softwareApi } from "../../../../api/software/software.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { formatted } from "../../../parts/counted.ts";
import type { Column, Filter, ListDefinition } from "../../../parts/list/definition.ts";
import { isPremium, may, maySomewhere } from "../../../session.ts";
import { missingData } from "../missing-data.ts";

const yes = [{ value: "true", label: "yes" }];

const vulnerableFilters = (): readonly Filter[] => [
  { name: "vulnerable", label: "Vulnerable", options: yes },
  ...(isPremium()
    ? [
        { name: "exploit", label: "Exploited", options: yes, needs: { name: "vulnerable", value: "true" } },
        { name: "min_cvss_score", label: "Severity of at least", needs: { name: "vulnerable", value: "true" } },
      ]
    : []),
];

/** A number of hosts that opens these hosts. */
const hosts = (count: number, query: Readonly<Record<string, string | number>>) => (
  <PageLink href="/hosts" query={query}>
    {formatted(count)}
  </PageLink>
);

const cves = (count: number) => (count === 0 ? "" : <Badge tone="bad">{formatted(count)}</Badge>);

const cvesOfTitle = ({ versions: all }: SoftwareTitle): number =>
  new Set(all.flatMap(({ vulnerabilities }) => vulnerabilities ?? [])).size;

const source = ({ source: kind, extension_for }: { readonly source: string; readonly extension_for: string }): string =>
  `${kind.replaceAll("_", " ")}${extension_for === "" ? "" : ` (${extension_for})`}`;

/** What the team offers of a title. */
function Offer({ title }: { readonly title: SoftwareTitle }): ReactElement | null {
  const { software_package, app_store_app } = title;
  const offer = software_package ?? app_store_app;
  if (offer === null) return null;
  const version = software_package?.version ?? app_store_app?.latest_version ?? "";
  return (
    <>
      <Badge tone="good">{version === "" ? "yes" : version}</Badge>
      {offer.self_service && (
        <>
          {" "}
          <Badge tone="quiet">self-service</Badge>
        </>
      )}
    </>
  );
}

/** Packages are of a team, so the list shows them only for one. */
const offerColumns = (teamId: number | null): readonly Column<SoftwareTitle>[] =>
  isPremium() && teamId !== null && may("packages:read", teamId || null)
    ? [{ id: "package", name: "Available for install", cell: (title) => <Offer title={title} /> }]
    : [];

const offerFilters = (): readonly Filter[] =>
  isPremium() && maySomewhere("packages:read")
    ? [
        { name: "available_for_install", label: "Available for install", options: yes },
        { name: "self_service", label: "Self-service", options: yes },
        { name: "packages_only", label: "Packages only", options: yes },
      ]
    : [];

export const titlesOf = (teamId: number | null): ListDefinition<typeof softwareApi.titles, SoftwareTitle> => ({
  name: "Software",
  view: "software",
  thing: "title",
  endpoint: softwareApi.titles,
  rowsOf: ({ software_titles }) => software_titles,
  countOf: ({ count }) => count,
  note: missingData,
  defaultOrder: { key: "hosts_count", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name, display_name }) => display_name || name,
  hrefOf: ({ id }) => `/software/titles/${id}`,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name, display_name }) => display_name || name },
    { id: "source", name: "Kind", cell: source },
    { id: "versions", name: "Versions", isNumber: true, cell: ({ versions_count }) => formatted(versions_count) },
    { id: "cves", name: "Vulnerabilities", isNumber: true, cell: (title) => cves(cvesOfTitle(title)) },
    {
      id: "hosts",
      name: "Hosts",
      order: "hosts_count",
      isNumber: true,
      cell: ({ id, hosts_count }) => hosts(hosts_count, { software_title_id: id }),
    },
    ...offerColumns(teamId),
    {
      id: "bundle",
      name: "Bundle identifier",
      isOptional: true,
      cell: ({ bundle_identifier }) => bundle_identifier ?? "",
    },
  ],
  filters: [...offerFilters(), ...vulnerableFilters()],
  csv: { endpoint: reportsApi.softwareTitles },
  command: "software list",
  flags: { team_id: "team" },
  empty: <p>Hosts report their software with their details. It is counted within the hour.</p>,
});

const cvesOfVersion = ({ vulnerabilities }: SoftwareVersion): number => vulnerabilities?.length ?? 0;

export const versions: ListDefinition<typeof softwareApi.versions, SoftwareVersion> = {
  name: "Versions",
  view: "software_versions",
  thing: "version",
  endpoint: softwareApi.versions,
  rowsOf: ({ software }) => software,
  countOf: ({ count }) => count,
  note: missingData,
  defaultOrder: { key: "hosts_count", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name, version }) => `${name} ${version}`,
  hrefOf: ({ title_id }) => `/software/titles/${title_id}`,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name, display_name }) => display_name || name },
    { id: "version", name: "Version", cell: ({ version }) => version },
    { id: "source", name: "Kind", cell: source },
    { id: "vendor", name: "Vendor", cell: ({ vendor }) => vendor ?? "" },
    { id: "cves", name: "Vulnerabilities", isNumber: true, cell: (row) => cves(cvesOfVersion(row)) },
    {
      id: "hosts",
      name: "Hosts",
      order: "hosts_count",
      isNumber: true,
      cell: ({ id, hosts_count }) => hosts(hosts_count, { software_version_id: id }),
    },
  ],
  filters: vulnerableFilters(),
  csv: { endpoint: reportsApi.softwareVersions },
  command: "software versions",
  flags: { team_id: "team" },
  empty: <p>Hosts report their software with their details. It is counted within the hour.</p>,
};

export const osVersions: ListDefinition<typeof osVersionsApi.list, OsVersion> = {
  name: "Operating systems",
  view: "os_versions",
  thing: "version",
  endpoint: osVersionsApi.list,
  query: { max_vulnerabilities: 0 },
  hasSearch: false,
  rowsOf: ({ os_versions }) => os_versions,
  countOf: ({ count }) => count,
  note: missingData,
  defaultOrder: { key: "hosts_count", direction: "desc" },
  keyOf: ({ os_version_id }) => os_version_id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", cell: ({ name }) => name },
    { id: "version", name: "Version", cell: ({ version }) => version },
    { id: "platform", name: "Platform", cell: ({ platform }) => platform },
    {
      id: "cves",
      name: "Vulnerabilities",
      isNumber: true,
      cell: ({ vulnerabilities_count }) => cves(vulnerabilities_count),
    },
    {
      id: "hosts",
      name: "Hosts",
      order: "hosts_count",
      isNumber: true,
      cell: ({ os_version_id, hosts_count }) => hosts(hosts_count, { os_version_id }),
    },
  ],
  filters: [
    {
      name: "platform",
      label: "Platform",
      options: ["darwin", "windows", "linux", "chrome", "ios", "ipados", "android"].map((value) => ({
        value,
        label: value,
      })),
    },
  ],
  command: "os-versions list",
  flags: { team_id: "team" },
  empty: <p>The operating systems of hosts are counted within the hour.</p>,
};
