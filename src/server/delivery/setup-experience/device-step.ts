// Software and the script of a device's setup come last: after them the device is released.
import type { SetupStep } from "../../devices/apple/setup/steps.ts";
import { SOFTWARE_STEP } from "./device-waits.ts";
import { proceed, restartSetup } from "./progress.ts";

/** The agent asks for packages and the script, one after the other; store apps need no agent. */
export const softwareStep: SetupStep = {
  name: SOFTWARE_STEP,
  begin: (inside, { host_id }) => restartSetup(inside, host_id),
  isDone: (inside, { host_id }) => proceed(inside, host_id),
};
