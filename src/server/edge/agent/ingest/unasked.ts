import type { Services } from "../../../platform/core/context.ts";
import { grant, hostLimit } from "../../../platform/host-limits/usage.ts";
import type { HostRow } from "../hosts/state.ts";

export const UNASKED = hostLimit("unasked_inventory", {
  what: "inventory that a host sends before its next one is due, unless a refetch was requested: the text of the rows, and at least half a megabyte for each message",
  max: 16 * 1024 * 1024,
  unit: "bytes",
  period: 3_600_000,
  beyond: "The message is accepted, and its inventory is not stored.",
});
/** Cost of a message, however small it is: storing it costs more than its text. */
const MIN_COST_BYTES = 512 * 1024;

interface SentMessage {
  readonly row: HostRow;
  /** The length of the message. */
  readonly length: number;
}

/** The share of the interval after which the next inventory is expected: agents and servers have clocks of their own. */
const EARLIEST_SHARE = 0.5;

function isAsked(row: HostRow, now: number, interval: number): boolean {
  if (row.refetch_requested || row.detail_updated_at === null) return true;
  const critical = row.refetch_critical_queries_until;
  if (critical !== null && Date.parse(critical) > now) return true;
  const since = now - Date.parse(row.detail_updated_at);
  return since < 0 || since >= EARLIEST_SHARE * interval;
}

/** The hosts whose inventory was not asked for, and is too much. */
export async function refusedInventories(
  services: Pick<Services, "store" | "clock" | "log" | "metrics" | "settings">,
  sent: readonly SentMessage[],
): Promise<ReadonlySet<number>> {
  const now = services.clock.now();
  const unasked = sent.filter(({ row }) => !isAsked(row, now, services.settings.detail_interval));
  const amounts = new Map(unasked.map(({ row, length }) => [row.id, Math.max(MIN_COST_BYTES, length)]));
  const granted = await grant(services, UNASKED, amounts, { lock: true });
  return new Set([...amounts].filter(([id, amount]) => granted.get(id)! < amount).map(([id]) => id));
}
