// Hosts as CSV, rendered page by page while the reply is read, so that memory use does not depend on the number of
// hosts.
import type { Streamed } from "../../api/bodies.ts";
import type { Host } from "../../api/host.ts";
import type { HostReportQuery } from "../../api/host-filters.ts";
import type { Context } from "../core/context.ts";
import { csvText } from "../core/csv.ts";
import { badRequest } from "../core/errors.ts";
import { bytesOf } from "../core/http/text-stream.ts";
import { hostBatches, hostsInTurn } from "../host-details/wire.ts";
import { checkLabelFilter, hostsWhere } from "./filters.ts";
import { checkIssues, filterNames } from "./list.ts";
import { stretchesOf } from "./order.ts";
import { nearest } from "./selector/nearest.ts";

type Cell = string | number | boolean | null | undefined;

interface Column {
  readonly field: keyof Host;
  readonly read: (host: Host) => Cell;
}

/** Fields of the host that have a single value, by name. */
const plain = [
  "id",
  "display_name",
  "hostname",
  "computer_name",
  "display_text",
  "status",
  "seen_time",
  "team_id",
  "team_name",
  "platform",
  "platform_like",
  "os_version",
  "code_name",
  "build",
  "uuid",
  "hardware_serial",
  "hardware_vendor",
  "hardware_model",
  "hardware_version",
  "cpu_type",
  "cpu_subtype",
  "cpu_brand",
  "cpu_physical_cores",
  "cpu_logical_cores",
  "memory",
  "gigs_disk_space_available",
  "gigs_total_disk_space",
  "percent_disk_space_available",
  "disk_encryption_enabled",
  "primary_ip",
  "primary_mac",
  "public_ip",
  "timezone",
  "uptime",
  "qengine_version",
  "agent_version",
  "svc_desktop_version",
  "scripts_enabled",
  "distributed_interval",
  "config_tls_refresh",
  "logger_tls_period",
  "refetch_requested",
  "created_at",
  "updated_at",
  "detail_updated_at",
  "label_updated_at",
  "policy_updated_at",
  "software_updated_at",
  "last_enrolled_at",
  "last_restarted_at",
  "last_mdm_checked_in_at",
  "last_mdm_enrolled_at",
] as const satisfies readonly (keyof Host)[];

const inMdm = [
  "enrollment_status",
  "name",
  "server_url",
  "connected_to_svc",
  "encryption_key_available",
  "device_status",
  "pending_action",
] as const satisfies readonly (keyof Host["mdm"])[];

const emails = ({ device_mapping }: Host): string => (device_mapping ?? []).map(({ email }) => email).join(", ");

const columns: ReadonlyMap<string, Column> = new Map<string, Column>([
  ...plain.map((name): [string, Column] => [name, { field: name, read: (host) => host[name] }]),
  ["issues", { field: "issues", read: ({ issues }) => issues.total_issues_count }],
  ["device_mapping", { field: "device_mapping", read: emails }],
  ...inMdm.map((name): [string, Column] => [`mdm.${name}`, { field: "mdm", read: ({ mdm }) => mdm[name] }]),
]);

export const reportColumns: readonly string[] = [...columns.keys()];

/** Hosts that are read at once. */
const PAGE = 500;

export function reportHosts(ctx: Context, query: HostReportQuery): Streamed {
  checkIssues({ ...query, after: undefined });
  checkLabelFilter(query, filterNames);
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
      for await (const hosts of hostsInTurn(ctx, hostBatches(ctx, parts, stretch, PAGE), parts))
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
    throw badRequest(`Invalid columns: ${name}${near === undefined ? "" : ` (did you mean ${near}?)`}`, "columns");
  }
  return names.length > 0 ? names : reportColumns;
}
