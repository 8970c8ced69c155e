// Lock, unlock and wipe as operations: what their answers mean for the state of the host.
import { recordActivity } from "../activities/record.ts";
import { service } from "../core/context.ts";
import { type Ending, HOST_LANE, type Inside, type Operation, type OperationKind } from "../operations/kind.ts";
import type { ScriptResult } from "../operations/tables.ts";
import { eq } from "../store/query.ts";
import type { HostAction } from "./deliverer.ts";

/** An agent that was interrupted gets the action again: to lock or wipe twice does no harm. */
const ATTEMPTS = 3;
const FAILURE_OUTPUT_MAX = 1_000;

const actionKind = (action: HostAction): OperationKind<ScriptResult> => ({
  name: action,
  lane: HOST_LANE,
  priority: 0,
  attempts: ATTEMPTS,
  title: action,
  isCancellableOnceSent: false,
  expires: true,
  isDone: ({ exit_code }) => exit_code === 0,
  ended: (inside, operation, ending) => settle(inside, action, operation, ending),
});

export const hostActionKinds = { lock: actionKind("lock"), unlock: actionKind("unlock"), wipe: actionKind("wipe") };

/** Scripts that earlier versions of the server have queued. */
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

async function settle(
  inside: Inside,
  action: HostAction,
  operation: Operation,
  ending: Ending<ScriptResult>,
): Promise<void> {
  const { store } = inside;
  const { host_id, uuid } = operation;
  const row = await store.hostActions.get(host_id);
  if (row?.reference !== uuid) return;
  const set = (values: Parameters<typeof store.hostActions.update>[0]["set"]) =>
    store.hostActions.update({ where: eq("id", host_id), set: { pending: "", ...values } });
  if (ending.state === "answered") {
    await set({ reference: "", failure: "", locked: action === "lock", wiped: action === "wipe" });
    return;
  }
  if (ending.state === "cancelled") {
    await set({ reference: "" });
    return;
  }
  // The reference stays after it has expired, so that a late answer still counts.
  if (ending.result === null) await set({ failure: `the host was sent the ${action} and has not answered` });
  else await set({ reference: "", failure: failureOf(action, operation, ending.result) });
  if (action !== "wipe") return;
  const host = await store.hosts.get(host_id);
  await recordActivity(
    { ...inside, user: service },
    "failed_wipe",
    { host_id, host_display_name: host?.display_name ?? "", host_platform: host?.platform ?? "" },
    { hostId: host_id },
  );
}

function failureOf(action: HostAction, { timeout }: Operation, { exit_code, output }: ScriptResult): string {
  const lastOutput = output.trim().slice(-FAILURE_OUTPUT_MAX);
  const why =
    exit_code === -1
      ? `timed out after ${timeout} s, or was killed`
      : exit_code === -2
        ? "was not run: scripts are disabled on the host"
        : `ended with exit code ${exit_code}`;
  return `the ${action} script ${why}${lastOutput === "" ? "" : `: ${lastOutput}`}`;
}
