import { z } from "zod";
import { StreamedBody } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import {
  CursorMeta,
  Empty,
  Id,
  IdParam,
  Ids,
  Meta,
  paging,
  QueryFlag,
  QueryInt,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";
import { Approval } from "../hosts/approvals.ts";
import { Host, ListedHost } from "../hosts/host.ts";
import { SelectionHeaders } from "../hosts/selection.ts";
import { HostSoftwareItem, importTime } from "../software/software.ts";
import { HostFacetsQuery, HostFacetsReply } from "./host-facets.ts";
import { BodyHostFilter, Gigabytes, HostListQuery, HostReportQuery, Where } from "./host-filters.ts";

const DestinationTeam = z.int().min(0).nullable().meta({ description: "null or 0 = no team" });

/** Whether a host satisfies one part of a selector. Each part follows its parent and is one level deeper. */
export const WherePart = z.object({ text: z.string(), depth: z.int(), matches: z.boolean() });
export type WherePart = z.infer<typeof WherePart>;

/**
 * If there is an approval, nothing has been deleted yet: another user has to approve it first. If there is a task, it is
 * still deleting hosts.
 */
const Deleted = z.object({
  approval: Approval.optional().meta({ description: "with status 202" }),
  task_id: Id.optional().meta({ description: "with status 202: the task that deletes the other hosts" }),
});

const params = z.object({ id: IdParam });
const list = { action: "hosts:list", scope: "team" } as const;

export const hostsApi = {
  list: endpoint({
    method: "GET",
    path: "/hosts",
    summary: "List hosts.",
    access: list,
    query: HostListQuery,
    response: z.object({
      hosts: z.array(ListedHost),
      meta: CursorMeta,
      changed_as_of: Timestamp.optional().meta({ description: "with changed_since" }),
      mobile_device_management_solution: z
        .object({ id: Id, name: z.string(), server_url: z.string() })
        .optional()
        .meta({ description: "with mdm_id" }),
      munki_issue: z
        .object({ id: Id, name: z.string(), type: z.string() })
        .optional()
        .meta({ description: "with munki_issue_id" }),
      software: z.object({ id: Id, name: z.string(), version: z.string(), source: z.string() }).optional(),
      software_title: z.object({ id: Id, name: z.string(), source: z.string() }).optional(),
    }),
  }),
  count: endpoint({
    method: "GET",
    path: "/hosts/count",
    summary: "Count hosts; takes every filter of the list.",
    access: list,
    query: HostListQuery.extend({
      digest: QueryFlag.default(false).meta({ description: "also return their X-Selection-Digest" }),
    }),
    response: z.object({ count: z.int(), digest: z.string().optional() }),
  }),
  facets: endpoint({
    method: "GET",
    path: "/hosts/facets",
    summary: "Count hosts by the values of fields: by each among the hosts that match all filters but its own.",
    access: list,
    query: HostFacetsQuery,
    response: HostFacetsReply,
  }),
  summary: endpoint({
    method: "GET",
    path: "/host_summary",
    summary: "Count hosts by status and platform.",
    access: list,
    query: z.object({
      team_id: QueryTeam.optional(),
      platform: z.string().max(64).optional(),
      low_disk_space: Gigabytes.optional(),
    }),
    response: z.object({
      team_id: z.int().optional(),
      totals_hosts_count: z.int(),
      online_count: z.int(),
      offline_count: z.int(),
      mia_count: z.int(),
      missing_30_days_count: z.int(),
      new_count: z.int(),
      all_linux_count: z.int(),
      low_disk_space_count: z.int().optional(),
      builtin_labels: z.array(z.object({ id: Id, name: z.string(), description: z.string(), label_type: z.string() })),
      platforms: z.array(z.object({ platform: z.string(), hosts_count: z.int() })),
    }),
  }),
  report: endpoint({
    method: "GET",
    path: "/hosts/report",
    summary: "Export hosts as CSV; takes every filter of the list.",
    access: list,
    query: HostReportQuery,
    produces: "text/csv",
    response: StreamedBody,
  }),
  transfer: endpoint({
    method: "POST",
    path: "/hosts/transfer",
    summary: "Move hosts to a team.",
    tier: "premium",
    access: { action: "hosts:transfer", scope: "team" },
    headers: SelectionHeaders,
    body: z.object({ team_id: DestinationTeam, hosts: Ids }),
    response: Empty,
  }),
  transferByFilter: endpoint({
    method: "POST",
    path: "/hosts/transfer/filter",
    summary: "Move the hosts that match the filters to a team; empty filters match all hosts.",
    tier: "premium",
    access: { action: "hosts:transfer", scope: "team" },
    headers: SelectionHeaders,
    body: z.object({ team_id: DestinationTeam, filters: BodyHostFilter }),
    response: Empty,
  }),
  explain: endpoint({
    method: "GET",
    path: "/hosts/:id/explain",
    summary: "Show which parts of a selector match a host.",
    access: { action: "hosts:read", scope: "team" },
    params,
    query: z.object({ where: Where }),
    response: z.object({ host_id: Id, where: z.string(), matches: z.boolean(), parts: z.array(WherePart) }),
  }),
  get: endpoint({
    method: "GET",
    path: "/hosts/:id",
    summary: "Get a host with its details.",
    access: { action: "hosts:read", scope: "team" },
    params,
    query: z.object({ exclude_software: QueryFlag.default(false) }),
    response: z.object({ host: Host, ...importTime }),
  }),
  byIdentifier: endpoint({
    method: "GET",
    path: "/hosts/identifier/:identifier",
    summary: "Get a host by hostname, uuid or serial number.",
    access: { action: "hosts:identify", scope: "team" },
    params: z.object({ identifier: z.string().min(1).max(255) }),
    query: z.object({
      exclude_software: QueryFlag.default(false),
      exclude_svc_maintained_policies: QueryFlag.default(false),
    }),
    response: z.object({ host: Host, ...importTime }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/hosts/:id",
    summary: "Delete a host; it may enroll again.",
    access: { action: "hosts:delete", scope: "team" },
    headers: SelectionHeaders,
    params,
    otherStatus: [202],
    response: Deleted,
  }),
  deleteMany: endpoint({
    method: "POST",
    path: "/hosts/delete",
    summary: "Delete hosts by ids, or by filters; empty filters match all hosts.",
    access: { action: "hosts:delete", scope: "team" },
    headers: SelectionHeaders,
    body: z.object({ ids: Ids.optional(), filters: BodyHostFilter.optional() }),
    otherStatus: [202],
    response: Deleted,
  }),
  refetch: endpoint({
    method: "POST",
    path: "/hosts/:id/refetch",
    summary: "Request all details from a host at its next check-in.",
    access: { action: "hosts:refetch", scope: "team" },
    params,
    response: Empty,
  }),
  apnsPing: endpoint({
    method: "POST",
    path: "/hosts/:id/apns_ping",
    summary: "Ask an Apple device to connect to device management; nothing is queued for it.",
    access: { action: "hosts:refetch", scope: "team" },
    status: 204,
    params,
    response: Empty,
  }),
  software: endpoint({
    method: "GET",
    path: "/hosts/:id/software",
    summary: "List the software on a host.",
    stability: "experimental",
    access: { action: "software:list", scope: "team" },
    params,
    query: paging("name").extend({
      query: QueryText.optional().meta({ description: "searches the name" }),
      vulnerable: QueryFlag.default(false),
      available_for_install: QueryFlag.default(false),
      self_service: QueryFlag.default(false),
      min_cvss_score: QueryInt.optional().meta({ premium: true }),
      max_cvss_score: QueryInt.optional().meta({ premium: true }),
      exploit: QueryFlag.optional().meta({ premium: true }),
    }),
    response: z.object({ count: z.int(), software: z.array(HostSoftwareItem), ...importTime, meta: Meta }),
  }),
};
