// Host filters: the parameters that lists, counts, reports and bulk requests share.
import { z } from "zod";
import {
  cursorQuery,
  Id,
  nullsRefused,
  pagingAfter,
  QueryFlag,
  QueryId,
  QueryInt,
  QueryTeam,
  QueryText,
} from "../fields.ts";
import { orderedHostFields } from "../hosts/host-fields.ts";

/** Values of the `status` filter. The host object's own `status` is only online or offline. */
export const hostStatuses = ["new", "online", "offline", "mia", "missing"] as const;

/** Columns of the hosts table, and of its one-to-one tables, that a list can be sorted by. */
export const hostOrderKeys = [
  ...orderedHostFields,
  "issues",
  // Columns with their table, which `after` once required.
  "hosts.created_at",
  "hosts.updated_at",
  "h.created_at",
  "h.updated_at",
] as const;

export const Gigabytes = QueryInt.refine((value) => value >= 1 && value <= 100).meta({
  type: "integer",
  minimum: 1,
  maximum: 100,
  premium: true,
  description: "less than this many GB free, 1 to 100 (premium)",
});

const settingsStatuses = ["verified", "verifying", "pending", "failed"] as const;
const encryptionStatuses = [
  "verified",
  "verifying",
  "action_required",
  "enforcing",
  "failed",
  "removing_enforcement",
] as const;

/** A selector expression. */
export const Where = z
  .string()
  .max(4096)
  .meta({ description: 'a selector, such as: platform = darwin and label in (A, "B c") and seen < 7d' });

/** Filters shared by list, count and all other requests that select hosts. */
export const hostFilters = {
  status: z.enum(hostStatuses).optional(),
  query: QueryText.optional().meta({
    description:
      "searches hostname, serial number, uuid, IPv4 address, and also email addresses if it contains @ and no blank",
  }),
  team_id: QueryTeam.optional(),
  label_id: QueryId.optional(),
  os_name: z.string().max(255).optional().meta({ description: "needs os_version" }),
  os_version: z.string().max(255).optional().meta({ description: "needs os_name" }),
  os_version_id: QueryId.optional(),
  software_version_id: QueryId.optional(),
  software_title_id: QueryId.optional(),
  software_id: QueryId.optional().meta({ deprecated: true, description: "use software_version_id" }),
  low_disk_space: Gigabytes.optional(),
  policy_id: QueryId.optional(),
  policy_response: z.enum(["passing", "failing", "none"]).optional().meta({
    description: "needs policy_id; none: the policy applies to the host, which has not answered it yet",
  }),
  software_status: z
    .enum([
      "pending_install",
      "failed_install",
      "installed",
      "pending_uninstall",
      "failed_uninstall",
      "pending",
      "failed",
    ])
    .optional()
    .meta({ description: "needs software_title_id" }),
  vulnerability: z.string().max(64).regex(/^cve-/i).optional().meta({ description: "a CVE id, such as CVE-2026-1234" }),
  mdm_id: QueryId.optional(),
  mdm_name: z.string().max(255).optional(),
  mdm_enrollment_status: z.enum(["manual", "automatic", "enrolled", "pending", "unenrolled"]).optional(),
  connected_to_svc: QueryFlag.optional().meta({ description: "managed by this server, or not" }),
  macos_settings: z.enum(settingsStatuses).optional(),
  macos_settings_disk_encryption: z.enum(encryptionStatuses).optional(),
  os_settings: z.enum(settingsStatuses).optional(),
  os_settings_disk_encryption: z.enum(encryptionStatuses).optional(),
  profile_uuid: z.string().max(255).optional().meta({ description: "needs profile_status" }),
  profile_status: z.enum(settingsStatuses).optional().meta({ description: "needs profile_uuid" }),
  bootstrap_package: z.enum(["installed", "pending", "failed"]).optional().meta({ premium: true }),
  munki_issue_id: QueryId.optional(),
  where: Where.optional(),
};
export const HostFilter = z.object(hostFilters);
export type HostFilter = z.output<typeof HostFilter>;

/** Actions that a list can be limited to: it then contains only hosts on which the caller may do this. */
export const hostMays = ["delete", "transfer", "lock", "run_scripts", "refetch", "label", "install"] as const;

/** How vulnerabilities are listed in software: as CVE ids only, or with details. */
export type SoftwareForm = "ids" | "details";

const isTime = (text: string): boolean => /^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text));

export const HostListQuery = pagingAfter(...hostOrderKeys).extend({
  ...hostFilters,
  fields: z
    .string()
    .max(2048)
    .optional()
    .meta({
      description:
        "fields of hosts, separated by commas, such as display_name,status,labels: the hosts have only these, the id, and " +
        "what the populate parameters add; without it, all",
    }),
  populate_software: z
    .enum(["true", "1", "false", "0", "without_vulnerability_details"])
    .optional()
    .transform((value): SoftwareForm | null =>
      value === "without_vulnerability_details" ? "ids" : value === "true" || value === "1" ? "details" : null,
    ),
  populate_users: QueryFlag.default(false),
  populate_labels: QueryFlag.default(false),
  populate_policies: QueryFlag.default(false),
  device_mapping: QueryFlag.default(false),
  additional_info_filters: z.string().max(4096).optional(),
  disable_failing_policies: QueryFlag.default(false),
  disable_issues: QueryFlag.optional(),
  changed_since: z
    .string()
    .max(64)
    .refine((text) => text === "" || isTime(text))
    .optional()
    .meta({
      description:
        "only hosts that have changed since this time; the reply's changed_as_of is the time for the next request. Empty: " +
        "all hosts, and a time to begin with",
    }),
  may: z.enum(hostMays).optional().meta({ description: "only hosts on which the caller may do this" }),
  ...cursorQuery,
});
export type HostListQuery = z.output<typeof HostListQuery>;

/** Whether a filter limits the hosts: blank text and null do not. */
const isLimiting = (value: unknown): boolean => (typeof value === "string" ? value.trim() !== "" : value !== null);

/**
 * The filters accepted in a body (bulk delete, transfer). Unknown keys are errors. Null counts as left out beside a filter
 * that is set. An empty object selects all hosts; one whose filters are all blank or null is an error.
 */
export const BodyHostFilter = z
  .strictObject({
    query: z.string().max(1024).nullish(),
    status: z.enum(hostStatuses).nullish(),
    label_id: Id.nullish(),
    team_id: z.int().min(0).nullish().meta({ description: "0 = no team" }),
    where: Where.nullish(),
  })
  // A script's unset variable must not turn a filter into "all hosts".
  .refine(
    (filters) => {
      const values = Object.values(filters).filter((value) => value !== undefined);
      return values.length === 0 || values.some(isLimiting);
    },
    { error: "none of the filters is set; to select all hosts, send an empty object" },
  )
  .register(nullsRefused, {});
export type BodyHostFilter = z.output<typeof BodyHostFilter>;

/** The report contains every host that matches the filters, so it has no paging parameters and no nested parts. */
export const HostReportQuery = HostListQuery.pick({ order_key: true, order_direction: true }).extend({
  format: z.literal("csv"),
  columns: z.string().max(4096).optional().meta({ description: "columns, separated by commas; default: all" }),
  ...hostFilters,
  disable_failing_policies: QueryFlag.default(false),
  disable_issues: QueryFlag.optional(),
});
export type HostReportQuery = z.output<typeof HostReportQuery>;
