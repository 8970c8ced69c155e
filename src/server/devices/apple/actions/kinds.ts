// Lock, unlock and wipe as commands of Apple devices.
import type { PlistDict } from "../../../../plist/value.ts";
import type { HostAction } from "../../../hosts/host-actions/deliverer.ts";
import { type ActionOutcome, actionEnded } from "../../../hosts/host-actions/outcome.ts";
import { actionView } from "../../../hosts/host-actions/view.ts";
import type { Ending, Inside, Operation, OperationKind } from "../../../hosts/operations/kind.ts";
import { expectReturn, LOCKS_WITHIN } from "../channel/devices.ts";
import { type AppleAnswer, appleCommandKind } from "../commands/kind.ts";

const actionKind = (action: HostAction): OperationKind<AppleAnswer> =>
  appleCommandKind({
    name: `apple_${action}`,
    title: action,
    view: actionView(action),
    isUpcoming: true,
    priority: 0,
    secrets: pinOf,
    async ended(inside, operation, ending) {
      await actionEnded(inside, action, operation, outcomeOf(action, ending));
      const isLocked = action === "lock" && ending.state === "answered";
      if (isLocked && (await isWithPin(inside, operation))) await expectReturn(inside, operation.host_id, LOCKS_WITHIN);
    },
  });

export const appleActionKinds = { lock: actionKind("lock"), unlock: actionKind("unlock"), wipe: actionKind("wipe") };

async function pinOf({ store }: Pick<Inside, "store">, { host_id, uuid }: Operation): Promise<PlistDict> {
  const row = await store.hostActions.get(host_id);
  if (row?.reference !== uuid) throw new Error("the action was cancelled while it was sent");
  return row.pin === null ? {} : { PIN: row.pin };
}

const isWithPin = async ({ store }: Inside, { host_id }: Operation): Promise<boolean> =>
  (await store.hostActions.get(host_id))?.pin != null;

function outcomeOf(action: HostAction, { state, result }: Ending<AppleAnswer>): ActionOutcome {
  if (state === "answered") return { state: "done" };
  if (result === null) return { state: "cancelled" };
  return { state: "failed", failure: `the device refused the ${action}: ${result.detail || result.status}` };
}
