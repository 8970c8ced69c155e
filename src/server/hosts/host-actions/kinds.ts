// Lock, unlock and wipe as scripts of the managed agent.
import { limit } from "../../platform/core/limits.ts";
import { type Ending, HOST_LANE, type Operation, type OperationKind } from "../operations/kind.ts";
import { shortened } from "../operations/script-output.ts";
import type { ScriptResult } from "../operations/tables.ts";
import type { HostAction } from "./deliverer.ts";
import { type ActionOutcome, actionEnded } from "./outcome.ts";
import { actionView } from "./view.ts";

/** An agent that was interrupted gets the action again: to lock or wipe twice does no harm. */
const ATTEMPTS = 3;
export const actionOutput = limit({
  what: "output of a failed lock, unlock or wipe that is shown",
  max: 1_000,
  unit: "characters",
  beyond: "The end is kept.",
});

const actionKind = (action: HostAction): OperationKind<ScriptResult> => ({
  name: action,
  lane: HOST_LANE,
  priority: 0,
  attempts: ATTEMPTS,
  title: action,
  view: actionView(action),
  isCancellableOnceSent: false,
  expires: true,
  stored: async (_, __, result) => shortened(result),
  isDone: ({ exit_code }) => exit_code === 0,
  ended: (inside, operation, ending) => actionEnded(inside, action, operation, outcomeOf(action, operation, ending)),
});

export const hostActionKinds = { lock: actionKind("lock"), unlock: actionKind("unlock"), wipe: actionKind("wipe") };

/** Scripts that 0.2.0 has taken over from versions before it: hosts keep them among their past activities. */
export const scriptKind: OperationKind<ScriptResult> = {
  name: "script",
  lane: HOST_LANE,
  priority: 10,
  attempts: 1,
  title: "",
  isCancellableOnceSent: true,
  expires: true,
  isDone: ({ exit_code }) => exit_code === 0,
  ended: async () => {},
};

function outcomeOf(action: HostAction, operation: Operation, { state, result }: Ending<ScriptResult>): ActionOutcome {
  if (state === "cancelled") return { state };
  if (state === "answered") return { state: "done" };
  return result === null
    ? { state: "unanswered", failure: `the host was sent the ${action} and has not answered` }
    : { state: "failed", failure: failureOf(action, operation, result) };
}

function failureOf(action: HostAction, { timeout }: Operation, { exit_code, output }: ScriptResult): string {
  const lastOutput = output.trim().slice(-actionOutput.max);
  const why =
    exit_code === -1
      ? `timed out after ${timeout} s, or was killed`
      : exit_code === -2
        ? "was not run: scripts are disabled on the host"
        : `ended with exit code ${exit_code}`;
  return `the ${action} script ${why}${lastOutput === "" ? "" : `: ${lastOutput}`}`;
}
