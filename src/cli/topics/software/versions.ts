// Columns of software, operating system versions and vulnerabilities.
import { OsVersion } from "../../../api/software/os-versions.ts";
import { SoftwareTitle, SoftwareVersion } from "../../../api/software/software.ts";
import { HostVulnerability } from "../../../api/software/vulnerabilities.ts";
import type { View } from "../../output/output.ts";

/** The CVEs, each once: those of a version, or of each version of a title. */
export const cvesIn = (cves: unknown): string =>
  Array.isArray(cves)
    ? [
        ...new Set(
          cves
            .flat()
            .flatMap((vulnerability) =>
              typeof vulnerability === "string"
                ? vulnerability
                : ((vulnerability as { cve?: string } | null)?.cve ?? []),
            ),
        ),
      ].join(", ")
    : "";

const vulnerabilities = (key: string) => ({ key, header: "vulnerabilities", text: cvesIn });

export const titleColumns = [
  { key: "id" },
  { key: "name" },
  { key: "source" },
  { key: "versions_count", header: "versions" },
  { key: "hosts_count", header: "hosts" },
];

export const titleView: View = {
  schema: () => SoftwareTitle,
  columns: [...titleColumns, vulnerabilities("versions.vulnerabilities")],
};

export const versionView: View = {
  schema: () => SoftwareVersion,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "version" },
    { key: "source" },
    { key: "hosts_count", header: "hosts" },
    vulnerabilities("vulnerabilities"),
  ],
};

export const osVersionView: View = {
  schema: () => OsVersion,
  columns: [
    { key: "os_version_id", header: "id" },
    { key: "name" },
    { key: "platform" },
    { key: "hosts_count", header: "hosts" },
    { key: "vulnerabilities_count", header: "vulnerabilities" },
  ],
};

const percent = (value: unknown): string => (typeof value === "number" ? `${(value * 100).toFixed(1)} %` : "");

export const vulnerabilityColumns = [
  { key: "cve" },
  { key: "hosts_count", header: "hosts" },
  { key: "cvss_score", header: "cvss" },
  { key: "epss_probability", header: "epss", text: percent },
  { key: "cisa_known_exploit", header: "exploited" },
  { key: "cve_published", header: "published" },
  { key: "created_at", header: "found" },
];

export const vulnerabilityView: View = { schema: () => HostVulnerability, columns: vulnerabilityColumns };
