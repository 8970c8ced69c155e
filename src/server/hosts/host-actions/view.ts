// How lock, unlock and wipe are shown while they wait for the host, whichever way they are delivered.
import type { OperationActivity, OperationView } from "../operations/kind.ts";
import { cancelScript } from "../operations/upcoming.ts";
import type { HostAction } from "./deliverer.ts";

/** The types of the activities that record the requests. */
const types: Readonly<Record<HostAction, string>> = {
  lock: "locked_host",
  unlock: "unlocked_host",
  wipe: "wiped_host",
};

export const actionView = (action: HostAction): OperationView => ({
  upcoming: async (_, { id, display_name, platform }, operations) => {
    const actionDetails: OperationActivity["details"] =
      action === "lock" ? { view_pin: false } : { host_platform: platform };
    return operations.map(() => ({
      type: types[action],
      details: { host_id: id, host_display_name: display_name, ...actionDetails },
    }));
  },
  cancel: cancelScript,
});
