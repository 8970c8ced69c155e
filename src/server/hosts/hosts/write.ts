// Changes of host rows that other features make, in their transactions.
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf, type Predicate } from "../../platform/store/query.ts";
import { notifyHostsGone, notifyHostsMoved } from "./changes.ts";

/** Makes the host send its whole inventory at its next check-in. Returns whether there is such a host. */
export const requestRefetch = async (tx: ServerTx, id: number): Promise<boolean> =>
  (await requestRefetches(tx, [id])) > 0;

/** `requestRefetch` for several hosts. Returns how many of them there are. */
export async function requestRefetches(tx: ServerTx, ids: readonly number[]): Promise<number> {
  const changed = await tx.hosts.update({ where: oneOf("id", ids), set: { refetch_requested: true } });
  if (changed > 0) await tx.notify(channels.hosts, hostsPayload(ids));
  return changed;
}

/** Makes the hosts run all label queries again at their next check-in. */
export async function requestLabels(tx: ServerTx, ids: readonly number[]): Promise<void> {
  await tx.hosts.update({ where: oneOf("id", ids), set: { label_updated_at: null } });
  await tx.notify(channels.hosts, hostsPayload(ids));
}

/** The serial number of a host of which none was known. */
export async function fillSerial(tx: ServerTx, id: number, serial: string): Promise<void> {
  await tx.hosts.update({ where: and(eq("id", id), eq("hardware_serial", "")), set: { hardware_serial: serial } });
}

/** Locks the rows until the commit by writing their time of change, so that the hosts stay in their teams. */
export async function touchHosts(tx: ServerTx, ids: readonly number[], updated_at: string): Promise<void> {
  await tx.hosts.update({ where: oneOf("id", ids), set: { updated_at } });
}

/**
 * Moves the matching hosts to a team; null: to no team. At their next check-in they get the policies that apply
 * there. `ids` are these hosts, if they are known. Returns their number.
 */
export async function moveHosts(
  { store, clock }: Pick<Context, "store" | "clock">,
  where: Predicate,
  teamId: number | null,
  ids?: readonly number[],
): Promise<number> {
  const set = { team_id: teamId, updated_at: clock.iso(), policy_updated_at: null };
  const moved = await store.hosts.update({ where, set });
  if (moved === 0) return 0;
  await store.notify(channels.hosts, ids === undefined ? "*" : hostsPayload(ids));
  await notifyHostsMoved(store);
  return moved;
}

/**
 * Waits until other transactions that are changing the matching hosts have ended, and keeps others away until the
 * commit. What is read of these hosts afterwards stays true, so only one of several transactions removes or moves them.
 */
export async function lockHosts({ store, clock }: Pick<Context, "store" | "clock">, where: Predicate): Promise<void> {
  await store.hosts.update({ where, set: { updated_at: clock.iso() } });
}

/** Deletes the hosts, and with them everything that belongs to them alone. */
export async function removeHosts(tx: ServerTx, ids: readonly number[]): Promise<void> {
  await tx.hosts.delete(oneOf("id", ids));
  await tx.notify(channels.hosts, hostsPayload(ids));
  await notifyHostsGone(tx);
}
