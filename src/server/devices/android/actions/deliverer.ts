// Delivers lock and wipe to Android devices (docs/protocols/android.md). Nothing unlocks them: their users do.

import type { Deliverer, HostAction } from "../../../hosts/host-actions/deliverer.ts";
import { type ActionOutcome, actionEnded } from "../../../hosts/host-actions/outcome.ts";
import { actionView } from "../../../hosts/host-actions/view.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { Ending } from "../../../hosts/operations/kind.ts";
import { ApiError, invalid } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
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
  async refusals({ config, store }, hosts, action) {
    const { mdm } = await config.over(store).current();
    const off = new ApiError(400, OFF, [{ name: "base", reason: OFF }]);
    if (!mdm.android_enabled_and_configured) return new Map(hosts.map(({ id }) => [id, off]));
    const devices = await devicesOf(store, hosts);
    return new Map(
      hosts
        .filter(({ id }) => !devices.has(id))
        .map(({ id, display_name: name }) => [
          id,
          invalid("host_id", `${name} does not have MDM turned on, which android needs for ${action}`),
        ]),
    );
  },
  async deliver(ctx, hosts, action) {
    const devices = await devicesOf(ctx.store, hosts);
    const isWipe = action === "wipe";
    // On a personal device, only the work profile is removed.
    const typeFor = (id: number) => (isWipe ? (devices.get(id)?.is_personal ? DELETE_DEVICE : WIPE) : "LOCK");
    const kind = isWipe ? androidActionKinds.wipe : androidActionKinds.lock;
    const commands = hosts.map(({ id }) => ({ hostId: id, type: typeFor(id) }));
    return (await sendAndroidCommands(ctx, kind, commands)).map((reference) => ({ reference, pin: null }));
  },
};

/** The devices of the hosts, by the hosts' ids. */
async function devicesOf({ androidDevices }: Pick<ServerTx, "androidDevices">, hosts: readonly HostRow[]) {
  const where = oneOf(
    "host_id",
    hosts.map(({ id }) => id),
  );
  const devices = await androidDevices.pick(["host_id", "is_personal"], { where });
  return new Map(devices.map((device) => [device.host_id, device]));
}
