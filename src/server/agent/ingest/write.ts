// The transaction that writes ingested results. Only changed values are written.
import { channels, hostsPayload } from "../../core/channels.ts";
import { isoAt } from "../../core/clock.ts";
import type { ServerTx } from "../../core/tables.ts";
import { type HostDetailsRow, writeDetails } from "../../hosts/details.ts";
import { type ReportedEmails, writeReportedEmails } from "../../hosts/emails.ts";
import { type Membership, writeMembership } from "../../labels/ingest.ts";
import { type HostMdmRow, writeReportedMdm } from "../../mdm-status/ingest.ts";
import { type MunkiPlan, writeMunki } from "../../munki/ingest.ts";
import { type HostSoftwareRow, writeHostSoftware } from "../../software/ingest.ts";
import type { HostRow } from "../hosts/state.ts";
import { onlineUntil } from "../inventory/status.ts";

export interface Answers {
  readonly hosts: readonly { readonly row: HostRow; readonly set: Partial<HostRow> }[];
  readonly emails: readonly ReportedEmails[];
  readonly softwareRows: readonly HostSoftwareRow[];
  readonly detailRows: readonly HostDetailsRow[];
  readonly mdmRows: readonly HostMdmRow[];
  readonly munki: MunkiPlan;
  readonly membership: Membership;
}

export async function writeAnswers(tx: ServerTx, now: number, answers: Answers): Promise<void> {
  await writeHosts(tx, now, answers.hosts);
  await writeDetails(tx, answers.detailRows);
  await writeHostSoftware(tx, answers.softwareRows);
  await writeReportedMdm(tx, answers.mdmRows);
  await writeMunki(tx, answers.munki);
  await writeMembership(tx, answers.membership);
  await writeReportedEmails(tx, answers.emails);
}

/** Groups hosts by the set of changed columns, with one update per group. */
async function writeHosts(tx: ServerTx, now: number, hosts: Answers["hosts"]): Promise<void> {
  const groups = new Map<string, ({ id: number } & Partial<HostRow>)[]>();
  const seen: { id: number; seen_time: string; online_until: string }[] = [];
  const doubtful: number[] = [];
  for (const { row, set } of hosts) {
    const changed = Object.entries(set).filter(
      ([column, value]) => value !== undefined && row[column as keyof HostRow] !== value,
    );
    if (changed.length === 0) continue;
    const columns = changed.map(([column]) => column).sort();
    const group = groups.get(columns.join()) ?? [];
    groups.set(columns.join(), group);
    group.push({ id: row.id, updated_at: isoAt(now), ...Object.fromEntries(changed) });
    if (columns.some((column) => inState.has(column))) doubtful.push(row.id);
    if (columns.includes("distributed_interval") || columns.includes("config_tls_refresh"))
      seen.push(seenRow({ ...row, ...set }, now));
  }
  for (const group of groups.values()) await tx.hosts.updateEach(group);
  if (seen.length > 0) await tx.hostSeen.updateEach(seen);
  if (doubtful.length > 0) await tx.notify(channels.hosts, hostsPayload(doubtful));
}

/** Columns that every server caches in `HostState`; a change of one of them is broadcast. */
const inState: ReadonlySet<string> = new Set([
  "hostname",
  "platform",
  "platform_like",
  "qengine_version",
  "distributed_interval",
  "config_tls_refresh",
  "logger_tls_period",
]);

/** The last-seen row of a host that has just called. */
export function seenRow(
  host: Pick<HostRow, "id" | "distributed_interval" | "config_tls_refresh">,
  now: number,
): { id: number; seen_time: string; online_until: string } {
  const seen_time = isoAt(now);
  const online_until = onlineUntil(seen_time, host.distributed_interval, host.config_tls_refresh);
  return { id: host.id, seen_time, online_until };
}
