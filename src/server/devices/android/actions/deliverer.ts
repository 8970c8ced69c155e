// Delivers lock and wipe to Android devices (docs/protocols/android.md). Nothing unlocks them: their users do.

import type { Deliverer, HostAction } from "../../../hosts/host-actions/deliverer.ts";
import { type ActionOutcome, actionEnded } from "../../../hosts/host-actions/outcome.ts";
import { actionView } from "../../../hosts/host-actions/view.ts";
import type { Ending } from "../../../hosts/operations/kind.ts";
import { ApiError, invalid } from "../../../platform/core/errors.ts";
import { eq } from "../../../platform/store/query.ts";
import { type AndroidAnswer, androidCommandKind, DELETE_DEVICE, WIPE } from "../commands/kind.ts";
import { sendAndroidCommands } from "../commands/send.ts";

const actionKind = (action: "lock" | "wipe") =>
  androidCommandKind({
    name: `android_${action}`,
    title: action,
    view: actionView(action),
    priority: 0,
    ended: (inside, operation, ending) => actionEnded(inside, action, operation, outcomeOf(action, ending)),
  });

export const androidActionKinds = { lock: actionKind("lock"), wipe: actionKind("wipe") };

function outcomeOf(action: HostAction, { state, result }: Ending<AndroidAnswer>): ActionOutcome {
  // The screen is locked, as if it had not been used for a while: its user unlocks it.
  if (state === "answered") return { state: action === "lock" ? "passed" : "done" };
  if (result === null) return { state: "cancelled" };
  return { state: "failed", failure: `the device refused the ${action}: ${result.detail}` };
}

const OFF = "Android MDM isn't turned on: an Android host needs it for lock and wipe";

export const androidDeliverer: Deliverer = {
  serves: ({ platform }, action) => platform === "android" && action !== "unlock",
  servesPersonal: true,
  async require({ config, store }, { id, display_name }, action) {
    const { mdm } = await config.over(store).current();
    if (!mdm.android_enabled_and_configured) throw new ApiError(400, OFF, [{ name: "base", reason: OFF }]);
    if ((await store.androidDevices.first({ where: eq("host_id", id) })) === null)
      throw invalid("host_id", `${display_name} does not have MDM turned on, which android needs for ${action}`);
  },
  async deliver(ctx, { id: hostId }, action) {
    const device = await ctx.store.androidDevices.first({ where: eq("host_id", hostId) });
    const isWipe = action === "wipe";
    // On a personal device, only the work profile is removed.
    const type = isWipe ? (device?.is_personal ? DELETE_DEVICE : WIPE) : "LOCK";
    const kind = isWipe ? androidActionKinds.wipe : androidActionKinds.lock;
    const [reference] = await sendAndroidCommands(ctx, kind, [{ hostId, type }]);
    return { reference: reference!, pin: null };
  },
};
