// Hosts as CSV, rendered page by page while the reply is read, so that memory use does not depend on the number of
// hosts.
import type { StreamedBody } from "../../../api/bodies.ts";
import type { Host } from "../../../api/hosts/host.ts";
import type { HostReportQuery } from "../../../api/inventory/host-filters.ts";
import { nearest } from "../../../text/nearest.ts";
import type { Context } from "../../platform/core/context.ts";
import { csvText } from "../../platform/core/csv.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { bytesOf } from "../../platform/core/http/text-stream.ts";
import { hostBatches, hostsInTurn } from "../host-details/wire.ts";
import { checkLabelFilter, hostsWhere } from "./filters.ts";
import { checkIssues, filterNames } from "./list.ts";
import { stretchesOf } from "./order.ts";
import { checkNames } from "./selector/known-names.ts";

type Cell = string | number | boolean | null | undefined;

interface Column {
  readonly field: keyof Host;
  readonly read: (host: Host) => Cell;
}

/**
 * Fields of the host that have a single value. A function each, because V8 reads a fixed name more than twice as fast
 * as one from a list.
 */
const plain: { readonly [Field in keyof Host]?: (host: Host) => Cell } = {
  id: (host) => host.id,
  display_name: (host) => host.display_name,
  hostname: (host) => host.hostname,
  computer_name: (host) => host.computer_name,
  display_text: (host) => host.display_text,
  status: (host) => host.status,
  seen_time: (host) => host.seen_time,
  team_id: (host) => host.team_id,
  team_name: (host) => host.team_name,
  platform: (host) => host.platform,
  platform_like: (host) => host.platform_like,
  os_version: (host) => host.os_version,
  code_name: (host) => host.code_name,
  build: (host) => host.build,
  uuid: (host) => host.uuid,
  hardware_serial: (host) => host.hardware_serial,
  hardware_vendor: (host) => host.hardware_vendor,
  hardware_model: (host) => host.hardware_model,
  hardware_version: (host) => host.hardware_version,
  cpu_type: (host) => host.cpu_type,
  cpu_subtype: (host) => host.cpu_subtype,
  cpu_brand: (host) => host.cpu_brand,
  cpu_physical_cores: (host) => host.cpu_physical_cores,
  cpu_logical_cores: (host) => host.cpu_logical_cores,
  memory: (host) => host.memory,
  gigs_disk_space_available: (host) => host.gigs_disk_space_available,
  gigs_total_disk_space: (host) => host.gigs_total_disk_space,
  percent_disk_space_available: (host) => host.percent_disk_space_available,
  disk_encryption_enabled: (host) => host.disk_encryption_enabled,
  primary_ip: (host) => host.primary_ip,
  primary_mac: (host) => host.primary_mac,
  public_ip: (host) => host.public_ip,
  timezone: (host) => host.timezone,
  uptime: (host) => host.uptime,
  qengine_version: (host) => host.qengine_version,
  agent_version: (host) => host.agent_version,
  svc_desktop_version: (host) => host.svc_desktop_version,
  scripts_enabled: (host) => host.scripts_enabled,
  distributed_interval: (host) => host.distributed_interval,
  config_tls_refresh: (host) => host.config_tls_refresh,
  logger_tls_period: (host) => host.logger_tls_period,
  refetch_requested: (host) => host.refetch_requested,
  created_at: (host) => host.created_at,
  updated_at: (host) => host.updated_at,
  detail_updated_at: (host) => host.detail_updated_at,
  label_updated_at: (host) => host.label_updated_at,
  policy_updated_at: (host) => host.policy_updated_at,
  software_updated_at: (host) => host.software_updated_at,
  last_enrolled_at: (host) => host.last_enrolled_at,
  last_restarted_at: (host) => host.last_restarted_at,
  last_mdm_checked_in_at: (host) => host.last_mdm_checked_in_at,
  last_mdm_enrolled_at: (host) => host.last_mdm_enrolled_at,
};

const inMdm = [
  "enrollment_status",
  "name",
  "server_url",
  "connected_to_svc",
  "encryption_key_available",
  "device_status",
  "pending_action",
] as const satisfies readonly (keyof Host["mdm"])[];

const emails = ({ device_mapping: addresses = [] }: Host): string =>
  addresses.length === 0 ? "" : addresses.map(({ email }) => email).join(", ");

const columns: ReadonlyMap<string, Column> = new Map<string, Column>([
  ...Object.entries(plain).map(([name, read]): [string, Column] => [name, { field: name as keyof Host, read }]),
  ["issues", { field: "issues", read: ({ issues }) => issues.total_issues_count }],
  ["device_mapping", { field: "device_mapping", read: emails }],
  ...inMdm.map((name): [string, Column] => [`mdm.${name}`, { field: "mdm", read: ({ mdm }) => mdm[name] }]),
]);

export const reportColumns: readonly string[] = [...columns.keys()];

/** Hosts that are read at once. */
const BATCH_SIZE = 1000;

export async function reportHosts(ctx: Context, query: HostReportQuery): Promise<StreamedBody> {
  checkIssues({ ...query, after: undefined });
  checkLabelFilter(query, filterNames);
  await checkNames(ctx, query.where);
  const names = columnNames(query.columns);
  const stretches = stretchesOf(query, hostsWhere(ctx, query, "hosts:list"));
  const fields = new Set(names.map((name) => columns.get(name)!.field));
  const parts = {
    fields,
    deviceMapping: fields.has("device_mapping"),
    noIssues: query.disable_issues ?? query.disable_failing_policies,
  };
  const reads = names.map((name) => columns.get(name)!.read);

  async function* lines(): AsyncGenerator<string> {
    yield csvText([names]);
    for (const stretch of stretches)
      for await (const hosts of hostsInTurn(ctx, hostBatches(ctx, parts, stretch, BATCH_SIZE), parts))
        yield csvText(hosts.map((host) => reads.map((read) => read(host))));
  }
  const day = ctx.clock.iso().slice(0, 10);
  return {
    body: bytesOf(ctx, lines(), "the report of hosts"),
    headers: { "content-type": "text/csv; charset=utf-8" },
    name: `hosts-${day}.csv`,
  };
}

function columnNames(asked: string | undefined): readonly string[] {
  const names = (asked ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  for (const name of names) {
    if (columns.has(name)) continue;
    const near = nearest(name, columns.keys());
    const help = near === undefined ? `; columns: ${reportColumns.join(", ")}` : ` (did you mean ${near}?)`;
    throw badRequest(`Invalid columns: ${name}${help}`, "columns");
  }
  return names.length > 0 ? names : reportColumns;
}
