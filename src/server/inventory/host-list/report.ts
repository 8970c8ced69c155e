// Hosts as CSV, rendered page by page while the reply is read, so that memory use does not depend on the number of
// hosts.
import type { StreamedBody } from "../../../api/bodies.ts";
import type { Host } from "../../../api/hosts/host.ts";
import { hostFieldNames } from "../../../api/hosts/host-fields.ts";
import type { HostReportQuery } from "../../../api/inventory/host-filters.ts";
import { csvText } from "../../../text/csv.ts";
import { nearest } from "../../../text/nearest.ts";
import { propertyReader } from "../../platform/core/compile.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { bytesOf } from "../../platform/core/http/text-stream.ts";
import { hostBatches, hostsInTurn } from "../host-details/wire.ts";
import { checkLabelFilter, hostsOfQuery } from "./filters.ts";
import { checkIssues, filterNames } from "./list.ts";
import { stretchesOf } from "./order.ts";

type Cell = string | number | boolean | null | undefined;

interface Column {
  readonly field: keyof Host;
  readonly read: (host: Host) => Cell;
}

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
  ...hostFieldNames.map((name): [string, Column] => [
    name,
    { field: name, read: propertyReader<Host, typeof name>(name) },
  ]),
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
  const where = await hostsOfQuery(ctx, query, "hosts:list");
  const names = columnNames(query.columns);
  const stretches = stretchesOf(query, where);
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

function columnNames(list: string | undefined): readonly string[] {
  const names = (list ?? "")
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
