// What is locked, wiped, or about to be, as hosts show it; and the end of what was pending when a host enrolls again.
import type { Host } from "../../api/host.ts";
import type { Clock } from "../core/clock.ts";
import { and, eq, not, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { ServerTx } from "../tables.ts";
import type { hostActions } from "./tables.ts";

/** Fields of the host's `mdm` object. */
export type LockState = Pick<Host["mdm"], "device_status" | "pending_action" | "action_failure">;
type ActionRow = RowOf<typeof hostActions>;

const untouched: LockState = { device_status: "unlocked", pending_action: "" };

export function lockStateOf(row: ActionRow | null | undefined): LockState {
  if (!row) return untouched;
  return {
    device_status: row.wiped ? "wiped" : row.locked ? "locked" : "unlocked",
    pending_action: row.pending,
    ...(row.failure === "" ? {} : { action_failure: row.failure }),
  };
}

/** The state of every host asked for. */
export async function lockStates(store: ServerTx, ids: readonly number[]): Promise<Map<number, LockState>> {
  const rows = new Map((await store.hostActions.getMany(ids)).map((row) => [row.id, row]));
  return new Map(ids.map((id) => [id, lockStateOf(rows.get(id))]));
}

/**
 * Hosts enrolled again, in the caller's transaction: what was asked of the old agent is void, and a machine that was wiped lives again.
 * What was locked stays so: a new agent key does not open a screen.
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
  await store.scriptRuns.update({
    where: and(
      oneOf(
        "host_id",
        rows.map(({ id }) => id),
      ),
      eq("state", "pending"),
      not(eq("kind", "script")),
    ),
    set: { state: "cancelled", ended_at: clock.iso() },
  });
}
