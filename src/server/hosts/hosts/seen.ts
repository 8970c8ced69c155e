// When hosts were last seen, and until when they count as online.
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import type { HostRow } from "./access.ts";

/** A host is online for this long after it should have called. */
const GRACE = seconds(60);
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

export interface SeenRow {
  readonly id: number;
  readonly seen_time: string;
  readonly online_until: string;
}

/** The last-seen row of a host that has called at `now`. */
export function seenRow(
  host: Pick<HostRow, "id" | "distributed_interval" | "config_tls_refresh">,
  now: number,
): SeenRow {
  const interval = Math.max(0, Math.min(host.distributed_interval, host.config_tls_refresh));
  const until = Math.min(now + seconds(interval) + GRACE, LAST_MS);
  return { id: host.id, seen_time: isoAt(now), online_until: isoAt(until) };
}

/** The row of a host that may have been offline before it called. */
const backOnline = (row: SeenRow): SeenRow & { readonly online_since: string } => ({
  ...row,
  online_since: row.seen_time,
});

/** The host has called by a channel that keeps no time of its own. */
export async function noteContact(tx: ServerTx, id: number, contacted_at: string): Promise<void> {
  await tx.hostContacts.upsert([{ id, contacted_at }], { on: ["id"], returning: [] });
}

/** For hosts that have just enrolled. */
export async function addSeen(tx: ServerTx, rows: readonly SeenRow[]): Promise<void> {
  await tx.hostSeen.upsert(rows.map(backOnline), { on: ["id"], returning: [] });
}

/**
 * For hosts that have called again; `isBack` selects those that may have been offline. Hosts that were deleted in the
 * meantime are skipped.
 */
export async function updateSeen(
  tx: ServerTx,
  rows: readonly SeenRow[],
  isBack: (row: SeenRow) => boolean = () => false,
): Promise<void> {
  const back = rows.filter(isBack).map(backOnline);
  const others = back.length === 0 ? rows : rows.filter((row) => !isBack(row));
  if (others.length > 0) await tx.hostSeen.updateEach(others);
  if (back.length > 0) await tx.hostSeen.updateEach(back);
}
