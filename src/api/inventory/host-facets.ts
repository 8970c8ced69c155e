// Counts of hosts by the values of fields, for lists that are narrowed down step by step.
import { z } from "zod";
import { type HostFilter, hostFilters } from "./host-filters.ts";

interface FacetSpec {
  /** What its values are. */
  readonly values: string;
  /** The filters of lists that its counts leave out, because they choose among its values. */
  readonly filters: readonly (keyof HostFilter)[];
  /** The fields of selectors that choose among its values. */
  readonly selectorFields: readonly string[];
}

/** By name. A host can have several values of label and failing_policy, and one of the others. */
export const hostFacets = {
  platform: { values: "platforms; empty: unknown", filters: [], selectorFields: ["platform"] },
  os_version: {
    values: "operating systems with their versions",
    filters: ["os_name", "os_version", "os_version_id"],
    selectorFields: ["os_version", "os.name", "os.version"],
  },
  hardware_model: { values: "models", filters: [], selectorFields: ["hardware_model"] },
  agent_version: { values: "versions of the agent", filters: [], selectorFields: ["agent_version"] },
  qengine_version: { values: "versions of the query engine", filters: [], selectorFields: ["qengine_version"] },
  disk_encryption_enabled: {
    values: "true, false, null: not reported",
    filters: [],
    selectorFields: ["disk_encryption_enabled"],
  },
  status: {
    values: "online, offline; new and missing hosts are counted besides",
    filters: ["status"],
    selectorFields: ["status", "online"],
  },
  team: { values: "ids of teams; 0: no team", filters: ["team_id"], selectorFields: ["team", "team_id"] },
  label: {
    values: "ids of labels, without built-in ones",
    filters: ["label_id"],
    selectorFields: ["label"],
  },
  mdm: {
    values: "ids of device management products",
    filters: ["mdm_id", "mdm_name"],
    selectorFields: ["mdm.name", "mdm.server_url"],
  },
  mdm_enrollment_status: {
    values: "those of the filter; enrolled includes manual and automatic",
    filters: ["mdm_enrollment_status"],
    selectorFields: ["mdm.enrollment_status"],
  },
  os_settings: {
    values: "those of the filter",
    filters: ["os_settings", "macos_settings"],
    selectorFields: ["mdm.os_settings"],
  },
  os_settings_disk_encryption: {
    values: "those of the filter",
    filters: ["os_settings_disk_encryption", "macos_settings_disk_encryption"],
    selectorFields: ["mdm.disk_encryption"],
  },
  failing_policy: {
    values: "ids of policies that hosts fail",
    filters: ["policy_id", "policy_response"],
    selectorFields: ["policy.failing"],
  },
  has_issues: { values: "true, false", filters: [], selectorFields: ["issues"] },
  has_critical_vulnerabilities: {
    values: "true, false",
    filters: [],
    selectorFields: ["critical_vulnerabilities"],
  },
  vulnerable: { values: "true, false", filters: ["vulnerability"], selectorFields: ["cve"] },
} as const satisfies Record<string, FacetSpec>;

export type HostFacetName = keyof typeof hostFacets;
export const hostFacetNames = Object.keys(hostFacets) as readonly HostFacetName[];

/** The most values of one facet in a reply. */
export const MAX_FACET_VALUES = 20;

export const HostFacetsQuery = z.object({
  ...hostFilters,
  by: z
    .string()
    .min(1)
    .max(1024)
    .meta({ description: `what to count by, separated by commas: ${hostFacetNames.join(", ")}` }),
});
export type HostFacetsQuery = z.output<typeof HostFacetsQuery>;

const FacetValue = z.object({
  value: z.union([z.string(), z.int(), z.boolean(), z.null()]),
  label: z.string().optional().meta({ description: "the name of what the value is the id of" }),
  count: z.int().min(0),
});
export type FacetValue = z.infer<typeof FacetValue>;

export const HostFacetsReply = z.object({
  count: z.int().min(0).meta({ description: "hosts that match all filters" }),
  facets: z.array(
    z.object({
      by: z.enum(hostFacetNames as [HostFacetName, ...HostFacetName[]]),
      values: z.array(FacetValue).meta({ description: `the ${MAX_FACET_VALUES} with most hosts` }),
      other: z.int().min(0).meta({ description: "the sum of the counts of all other values" }),
    }),
  ),
});
export type HostFacetsReply = z.infer<typeof HostFacetsReply>;
