// Delivers wipes to Windows devices (docs/protocols/windows.md). Agents lock and unlock them.
import type { WindowsWipeType } from "../../../../api/hosts/host-actions.ts";
import { syncCommand } from "../../../../syncml/value.ts";
import type { Deliverer } from "../../../hosts/host-actions/deliverer.ts";
import { actionEnded } from "../../../hosts/host-actions/outcome.ts";
import { forgetActions, leaveActions } from "../../../hosts/host-actions/states.ts";
import { actionView } from "../../../hosts/host-actions/view.ts";
import { endLeaving } from "../../../hosts/mdm-status/managed.ts";
import { ApiError, invalid } from "../../../platform/core/errors.ts";
import { hostsWithDevice } from "../channel/devices.ts";
import type { WindowsDeviceListener } from "../channel/listeners.ts";
import { windowsCommandKind } from "../commands/kind.ts";
import { sendWindowsCommands } from "../commands/send.ts";

export const windowsWipe = windowsCommandKind({
  name: "windows_wipe",
  title: "wipe",
  view: actionView("wipe"),
  isUpcoming: true,
  priority: 0,
  async ended(inside, operation, { state, result }) {
    const failed = result && ({ state: "failed", failure: `the device refused the wipe: ${result.detail}` } as const);
    const outcome = state === "answered" ? ({ state: "done" } as const) : (failed ?? ({ state: "cancelled" } as const));
    await actionEnded(inside, "wipe", operation, outcome);
  },
});

const NODE = "./Device/Vendor/MSFT/RemoteWipe";
/** A kind of wipe that cannot be stopped by switching the device off. */
const DEFAULT: WindowsWipeType = "doWipeProtected";

const OFF = "Windows MDM isn't turned on: a Windows host needs it for wipe";

export const windowsWiper: Deliverer = {
  serves: ({ platform }, action) => platform === "windows" && action === "wipe",
  async refusals({ config, store }, hosts) {
    const { mdm } = await config.over(store).current();
    const off = new ApiError(400, OFF, [{ name: "base", reason: OFF }]);
    if (!mdm.windows_enabled_and_configured) return new Map(hosts.map(({ id }) => [id, off]));
    const enrolled = await hostsWithDevice(
      store,
      hosts.map(({ id }) => id),
    );
    return new Map(
      hosts
        .filter(({ id }) => !enrolled.has(id))
        .map(({ id, display_name }) => [
          id,
          invalid("host_id", `${display_name} does not have MDM turned on, which windows needs for wipe`),
        ]),
    );
  },
  async deliver(ctx, hosts, _action, { wipeType = DEFAULT }) {
    const command = syncCommand("Exec", "", { items: [{ target: `${NODE}/${wipeType}`, format: "chr", data: "" }] });
    const commands = hosts.map(({ id }) => ({ hostId: id, command }));
    return (await sendWindowsCommands(ctx, windowsWipe, commands)).map((reference) => ({ reference, pin: null }));
  },
};

/** The enrollment of a device ends its wipes, and what it was asked to leave. */
export const windowsActionListener: WindowsDeviceListener = {
  async reset(inside, { host_id, state }) {
    await endLeaving(inside, [host_id]);
    await (state === "removed" ? leaveActions(inside, host_id) : forgetActions(inside, host_id));
  },
};
