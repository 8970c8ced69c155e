// Lock and wipe states as shown on hosts, and the reset of pending actions when a host enrolls again.
import type { Host } from "../../../api/hosts/host.ts";
import type { Clock } from "../../platform/core/clock.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, nothing, oneOf } from "../../platform/store/query.ts";
import { side } from "../../platform/store/sides.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { Lane } from "../operations/kind.ts";
import { dropOperations } from "../operations/queue.ts";
import { hostActions } from "./tables.ts";

/** Fields of the host's `mdm` object. */
export type LockState = Pick<Host["mdm"], "device_status" | "pending_action" | "action_failure">;
type ActionRow = Pick<RowOf<typeof hostActions>, (typeof lockSide)["columns"][number]>;

/** The columns that the state is made from. */
export const lockSide = side(hostActions, "locked", "wiped", "pending", "failure");

const untouched: LockState = { device_status: "unlocked", pending_action: "" };

export function lockStateOf(row: ActionRow | null | undefined): LockState {
  if (!row) return untouched;
  return {
    device_status: row.wiped ? "wiped" : row.locked ? "locked" : "unlocked",
    pending_action: row.pending,
    ...(row.failure === "" ? {} : { action_failure: row.failure }),
  };
}

/** For hosts that an enrollment moves to another team: cancels everything that was asked of them, and deletes PINs. */
export async function endAllPending(
  { store, clock }: { store: ServerTx; clock: Clock },
  hostIds: readonly number[],
): Promise<void> {
  await endPendingActions({ store, clock }, hostIds);
  await store.hostActions.update({ where: oneOf("id", hostIds), set: { pin: null, failure: "", reference: "" } });
  await dropOperations({ store, clock }, hostIds);
}

/**
 * For hosts that enroll again, in the caller's transaction. Resets the wiped state, and cancels pending actions that
 * were sent in this lane; without a lane, all. An agent that enrolls again does not change what a device was asked. The
 * locked state is kept, since a new agent key does not unlock a screen.
 */
export async function endPendingActions(
  { store, clock }: { store: ServerTx; clock: Clock },
  hostIds: readonly number[],
  lane?: Lane,
): Promise<void> {
  const rows = (await store.hostActions.getMany(hostIds)).filter(({ pending, wiped }) => pending !== "" || wiped);
  if (rows.length === 0) return;
  const uuids = rows.flatMap(({ pending, reference }) => (pending === "" ? [] : [reference]));
  const isElsewhere = and(oneOf("uuid", uuids), lane === undefined ? nothing : not(eq("lane", lane)));
  const elsewhere = new Set((await store.operations.pick(["uuid"], { where: isElsewhere })).map(({ uuid }) => uuid));
  await store.hostActions.updateEach(
    rows.map(({ id, wiped, locked, pending, reference, pin }) => ({
      id,
      ...(elsewhere.has(reference)
        ? { pending, reference, pin }
        : { pending: "", reference: "", pin: locked ? pin : null }),
      wiped: false,
      locked: locked && !wiped,
    })),
  );
  await dropOperations({ store, clock }, hostIds, { uuids: uuids.filter((uuid) => !elsewhere.has(uuid)) });
}

/** The host is not locked any more, as its device shows. A pending wipe keeps its PIN. */
export async function endLock({ store }: { store: ServerTx }, hostId: number): Promise<void> {
  const row = await store.hostActions.get(hostId);
  if (!row?.locked) return;
  await store.hostActions.updateEach([{ id: hostId, locked: false, pin: row.pending === "wipe" ? row.pin : null }]);
}

/** The device begins anew: whatever it was asked, and what that has changed, is over. */
export async function forgetActions({ store }: { store: ServerTx }, hostId: number): Promise<void> {
  const set = { locked: false, wiped: false, pending: "", reference: "", pin: null, failure: "" } as const;
  await store.hostActions.update({ where: eq("id", hostId), set });
}

/** The device cannot be reached any more. That it was wiped is still true. */
export async function leaveActions({ store }: { store: ServerTx }, hostId: number): Promise<void> {
  const set = { locked: false, pending: "", reference: "", pin: null } as const;
  await store.hostActions.update({ where: eq("id", hostId), set });
}
