// Hosts as CSV, made page by page while it is read: memory stays flat whatever their number.
import type { Streamed } from "../../api/endpoint.ts";
import type { Host } from "../../api/host.ts";
import type { HostReportQuery } from "../../api/host-filters.ts";
import type { Context } from "../core/context.ts";
import { csvText } from "../core/csv.ts";
import { badRequest } from "../core/errors.ts";
import { bytesOf } from "../core/text-stream.ts";
import { checkLabelFilter, hostsWhere } from "./filters.ts";
import { checkIssues, filterNames } from "./list.ts";
import { stretchesOf } from "./order.ts";
import { nearest } from "./selector/nearest.ts";
import { hostsOnWire } from "./wire.ts";

type Cell = string | number | boolean | null | undefined;
type Read = (host: Host) => Cell;

/** Fields of the host that are one value, by their names. */
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

const columns: ReadonlyMap<string, Read> = new Map<string, Read>([
  ...plain.map((name): [string, Read] => [name, (host) => host[name]]),
  ["issues", (host) => host.issues.total_issues_count],
  ["device_mapping", (host) => (host.device_mapping ?? []).map(({ email }) => email).join(", ")],
  ...inMdm.map((name): [string, Read] => [`mdm.${name}`, ({ mdm }) => mdm[name]]),
]);

export const reportColumns: readonly string[] = [...columns.keys()];

/** Hosts made into text between which others get their turn. */
const PAGE = 250;

export function reportHosts(ctx: Context, query: HostReportQuery): Streamed {
  checkIssues({ ...query, after: undefined });
  checkLabelFilter(query, filterNames);
  const names = columnsOf(query.columns);
  const stretches = stretchesOf(query, hostsWhere(ctx, query, "hosts:list"));
  const parts = {
    deviceMapping: names.includes("device_mapping"),
    noIssues: query.disable_issues ?? query.disable_failing_policies,
  };
  const reads = names.map((name) => columns.get(name)!);

  async function* lines(): AsyncGenerator<string> {
    yield csvText([names]);
    for (const stretch of stretches)
      for await (const rows of ctx.store.hosts.pages(stretch, PAGE)) {
        const hosts = await hostsOnWire(ctx, rows, parts);
        yield csvText(hosts.map((host) => reads.map((read) => read(host))));
      }
  }
  const day = ctx.clock.iso().slice(0, 10);
  return {
    body: bytesOf(ctx, lines(), "the report of hosts"),
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="hosts-${day}.csv"`,
    },
  };
}

function columnsOf(asked: string | undefined): readonly string[] {
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
