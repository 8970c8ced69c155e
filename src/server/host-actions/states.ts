// Lock and wipe states as shown on hosts, and the reset of pending actions when a host enrolls again.
import type { Host } from "../../api/host.ts";
import type { Clock } from "../core/clock.ts";
import type { ServerTx } from "../core/tables.ts";
import { dropOperations } from "../operations/queue.ts";
import { oneOf } from "../store/query.ts";
import { side } from "../store/sides.ts";
import type { RowOf } from "../store/table.ts";
import { hostActionKinds } from "./kinds.ts";
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
 * For hosts that enroll again, in the caller's transaction. Cancels pending actions and resets the wiped state. The
 * locked state is kept, since a new agent key does not unlock a screen.
 */
export async function endPendingActions(
  { store, clock }: { store: ServerTx; clock: Clock },
  hostIds: readonly number[],
): Promise<void> {
  const rows = (await store.hostActions.getMany(hostIds)).filter(({ pending, wiped }) => pending !== "" || wiped);
  if (rows.length === 0) return;
  await store.hostActions.updateEach(
    rows.map(({ id, wiped, locked }) => ({ id, pending: "", reference: "", wiped: false, locked: locked && !wiped })),
  );
  const ids = rows.map(({ id }) => id);
  await dropOperations({ store, clock }, ids, { kinds: Object.keys(hostActionKinds) });
}
