// Writes what agents report of their hosts' rows.
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { HostRow } from "./access.ts";
import { type SeenRow, seenRow, updateSeen } from "./seen.ts";

interface ReportedHost {
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
}

/**
 * Writes only values that differ from the row. Groups hosts by the set of changed columns, with one update each. Returns
 * the hosts of which all servers, this one included, are notified.
 */
export async function writeReported(
  tx: ServerTx,
  now: number,
  hosts: readonly ReportedHost[],
): Promise<ReadonlySet<number>> {
  const groups = new Map<string, ({ id: number } & Partial<HostRow>)[]>();
  const seen: SeenRow[] = [];
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
    if (columns.some((column) => cached.has(column))) doubtful.push(row.id);
    if (columns.includes("distributed_interval") || columns.includes("config_tls_refresh"))
      seen.push(seenRow({ ...row, ...set }, now));
  }
  for (const group of groups.values()) await tx.hosts.updateEach(group);
  await updateSeen(tx, seen);
  if (doubtful.length > 0) await tx.notify(channels.hosts, hostsPayload(doubtful));
  return new Set(doubtful);
}

/** Columns that every server caches for connected hosts; a change of one of them is broadcast. */
const cached: ReadonlySet<string> = new Set([
  "hostname",
  "platform",
  "platform_like",
  "qengine_version",
  "distributed_interval",
  "config_tls_refresh",
  "logger_tls_period",
]);

type Intervals = Partial<Pick<HostRow, "distributed_interval" | "config_tls_refresh" | "logger_tls_period">>;

/** Stores the intervals that were sent to a host, which determine how long it counts as online. */
export async function writeIntervals(tx: ServerTx, seen: SeenRow, intervals: Intervals, now: number): Promise<void> {
  await tx.hosts.updateEach([{ id: seen.id, ...intervals, updated_at: isoAt(now) }]);
  await updateSeen(tx, [seen]);
  // Notify other servers, which may have sent this host other intervals before.
  await tx.notify(channels.hosts, hostsPayload([seen.id]));
}
