// What happens before a device may leave its setup assistant. `server/extensions.ts` lists the steps in their order.

import type { Context } from "../../../platform/core/context.ts";
import { extensionPoint } from "../../../platform/core/extensions.ts";
import { hasItsProfiles } from "../../profiles/reconcile.ts";
import type { Enrollment } from "../channel/listeners.ts";

/** Each member runs in a transaction, under the lock of the host's operations. */
export interface SetupStep {
  /** Never changes: it is stored which steps of a device have ended. */
  readonly name: string;
  /** Queues what the device has to do. Called once for each enrollment. */
  begin?(inside: Context, device: Enrollment): Promise<void>;
  /** Whether the next step may begin. Called after each answer of the device, and by a job; may queue more meanwhile. */
  isDone(inside: Context, device: Enrollment): Promise<boolean>;
}

/** In their order. */
export const appleSetupSteps = extensionPoint<SetupStep>("steps of the setup of Apple devices");

/** The reconciler queues the profiles, so there is nothing to begin. */
export const profilesStep: SetupStep = {
  name: "profiles",
  isDone: (inside, { host_id }) => hasItsProfiles(inside, host_id),
};
