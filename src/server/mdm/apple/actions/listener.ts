// What the enrollment of a device, and its contacts, mean for its locks and wipes.
import { endLock, forgetActions, leaveActions } from "../../../host-actions/states.ts";
import { endLeaving } from "../../../mdm-status/managed.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";

export const appleActionListener: AppleDeviceListener = {
  async reset(inside, { host_id, state }) {
    await endLeaving(inside, host_id);
    await (state === "removed" ? leaveActions(inside, host_id) : forgetActions(inside, host_id));
  },
  // A Mac that was locked asks for commands only after its PIN was entered.
  returned: (inside, { host_id }) => endLock(inside, host_id),
};
