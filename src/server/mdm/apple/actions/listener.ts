// What the enrollment of a device, and its contacts, mean for its locks and wipes.
import { endLock, forgetActions, leaveActions } from "../../../host-actions/states.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";

export const appleActionListener: AppleDeviceListener = {
  reset: (inside, { host_id, state }) =>
    state === "removed" ? leaveActions(inside, host_id) : forgetActions(inside, host_id),
  // A Mac that was locked asks for commands only after its PIN was entered.
  returned: (inside, { host_id }) => endLock(inside, host_id),
};
