// Columns of software and operating system versions.
import { OsVersion } from "../../api/os-versions.ts";
import { SoftwareTitle, SoftwareVersion } from "../../api/software.ts";
import type { View } from "../output/output.ts";

const cvesIn = (found: unknown): string =>
  Array.isArray(found)
    ? found
        .flat()
        .flatMap((one) => (typeof one === "string" ? one : ((one as { cve?: string } | null)?.cve ?? [])))
        .join(", ")
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
  schema: SoftwareTitle,
  columns: [...titleColumns, vulnerabilities("versions.vulnerabilities")],
};

export const versionView: View = {
  schema: SoftwareVersion,
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
  schema: OsVersion,
  columns: [
    { key: "os_version_id", header: "id" },
    { key: "name" },
    { key: "platform" },
    { key: "hosts_count", header: "hosts" },
    { key: "vulnerabilities_count", header: "vulnerabilities" },
  ],
};
