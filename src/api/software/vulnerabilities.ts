import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, Meta, pagingAfter, QueryFlag, QueryTeam, QueryText, Timestamp } from "../fields.ts";
import { Vulnerability } from "../hosts/host-software.ts";
import { importTime } from "./software.ts";

/** A CVE that affects hosts. Details are premium, and null if no source provides them. */
export const HostVulnerability = Vulnerability.omit({ resolved_in_version: true, created_at: true }).extend({
  created_at: Timestamp.meta({ description: "when it was first found" }),
  hosts_count: z.int(),
  hosts_count_updated_at: Timestamp.nullable(),
});
export type HostVulnerability = z.infer<typeof HostVulnerability>;

const resolved = {
  resolved_in_version: z.string().nullable().optional().meta({ description: "premium; null: not known, or not fixed" }),
};

export const HostVulnerabilityDetails = HostVulnerability.extend({
  os_versions: z.array(
    z.object({
      os_version_id: Id,
      hosts_count: z.int(),
      name: z.string(),
      name_only: z.string(),
      version: z.string(),
      generated_cpes: z.array(z.string()),
      ...resolved,
    }),
  ),
  software: z.array(
    z.object({
      id: Id,
      software_title_id: Id,
      name: z.string(),
      version: z.string(),
      source: z.string(),
      extension_for: z.string(),
      generated_cpe: z.string(),
      hosts_count: z.int(),
      ...resolved,
    }),
  ),
});
export type HostVulnerabilityDetails = z.infer<typeof HostVulnerabilityDetails>;

export const VulnerabilityStatus = z.object({
  is_configured: z.boolean().meta({ description: "whether the server has a place from which it imports data" }),
  feeds: z.array(
    z.object({
      name: z.string(),
      state: z.enum(["waiting", "importing", "current", "missing", "failed"]),
      error: z.string().nullable(),
      records: z.int(),
      bytes_read: z.int().meta({ description: "of the running or last import" }),
      bytes_total: z.int().meta({ description: "0: not known" }),
      checked_at: Timestamp.nullable(),
      imported_at: Timestamp.nullable(),
    }),
  ),
  matching: z
    .object({ done: z.int(), total: z.int(), started_at: Timestamp, finished_at: Timestamp.nullable() })
    .nullable()
    .meta({ description: "the comparison of software versions with the data; null: never started" }),
  vulnerabilities_count: z.int(),
  counts_updated_at: Timestamp.nullable(),
});
export type VulnerabilityStatus = z.infer<typeof VulnerabilityStatus>;

const read = { action: "software:list", scope: "team" } as const;

export const vulnerabilitiesApi = {
  list: endpoint({
    method: "GET",
    path: "/vulnerabilities",
    summary: "List vulnerabilities of software and operating systems, with the number of hosts that they affect.",
    access: read,
    query: pagingAfter(
      "cve",
      "cvss_score",
      "epss_probability",
      "cve_published",
      "created_at",
      "host_count",
      "hosts_count",
    ).extend({
      team_id: QueryTeam.optional(),
      query: QueryText.optional().meta({ description: "searches CVE ids" }),
      exploit: QueryFlag.optional().meta({ premium: true, description: "only those that are exploited (premium)" }),
    }),
    response: z.object({
      vulnerabilities: z.array(HostVulnerability),
      count: z.int(),
      counts_updated_at: Timestamp.nullable(),
      data_imported: z
        .boolean()
        .meta({ description: "false: vulnerability data was never imported, so that nothing can be found" }),
      ...importTime,
      meta: Meta,
    }),
  }),
  status: endpoint({
    method: "GET",
    path: "/vulnerabilities/status",
    summary: "Show how far the import of vulnerability data and the comparison with software are.",
    access: { action: "jobs:trigger", scope: "global" },
    response: VulnerabilityStatus,
  }),
  get: endpoint({
    method: "GET",
    path: "/vulnerabilities/:cve",
    summary: "Show a vulnerability, and the software and operating systems that it affects.",
    access: read,
    params: z.object({
      // Checked after the query, which names its own errors first.
      cve: z.string().max(64).meta({ description: "a CVE id, such as CVE-2026-1234" }),
    }),
    query: z.object({ team_id: QueryTeam.optional() }),
    // 204: the CVE is known, but affects no hosts.
    otherStatus: [204],
    response: z.object({ vulnerability: HostVulnerabilityDetails.optional() }),
  }),
};
