// The operation that runs a script on a host, by its managed agent.

import { recordActivity } from "../activities/record.ts";
import { badRequest } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import type { OperationView } from "../operations/kind.ts";
import { HOST_LANE, type Operation, type OperationKind } from "../operations/kind.ts";
import { endOperation } from "../operations/queue.ts";
import { requesterOf } from "../operations/requester.ts";
import { shortened } from "../operations/script-output.ts";
import type { ScriptResult } from "../operations/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import { expandFor, maskSecrets } from "../variables/use.ts";
import { endedInBatch } from "./batches/hosts.ts";
import { textOf } from "./texts.ts";

const executionOf = (store: ServerTx, { uuid }: Pick<Operation, "uuid">) =>
  store.scriptExecutions.first({ where: eq("uuid", uuid) });

const view: OperationView = {
  async upcoming(store, host, operations) {
    const uuids = operations.map(({ uuid }) => uuid);
    const rows = await store.scriptExecutions.pick(["uuid", "script_name", "is_sync"], { where: oneOf("uuid", uuids) });
    const known = new Map(rows.map((row) => [row.uuid, row]));
    return operations.map(({ uuid }) => ({
      type: "ran_script",
      details: {
        host_id: host.id,
        host_display_name: host.display_name,
        script_execution_id: uuid,
        script_name: known.get(uuid)?.script_name ?? "",
        async: !known.get(uuid)?.is_sync,
        policy_id: null,
        policy_name: null,
      },
    }));
  },
  async cancel(inside, host, operation) {
    if (operation.attempts > 0) throw badRequest("the script has started on the host and cannot be cancelled");
    const execution = await executionOf(inside.store, operation);
    await endOperation(inside, operation, { state: "cancelled", result: null });
    return {
      type: "canceled_run_script",
      details: {
        host_id: host.id,
        host_display_name: host.display_name,
        script_name: execution?.script_name ?? "",
      },
    };
  },
};

/** What the host runs instead of a script that cannot be sent: its result says why. */
function refusal(missing: readonly string[], platform: string): string {
  const reason = `not run: the host has no value for ${missing.join(", ")}`;
  return platform === "windows" ? `Write-Output '${reason}'\nexit 1\n` : `#!/bin/sh\necho '${reason}'\nexit 1\n`;
}

export const runScript: OperationKind<ScriptResult> = {
  name: "run_script",
  lane: HOST_LANE,
  priority: 10,
  // Twice could do harm.
  attempts: 1,
  title: "script",
  isCancellableOnceSent: false,
  expires: true,
  view,
  async outgoing({ store }, { host_id }, content) {
    const { text, missing } = await expandFor(store, host_id, content);
    if (missing.length === 0) return text;
    return refusal(missing, (await store.hosts.get(host_id))?.platform ?? "");
  },
  async stored({ store }, operation, result) {
    const execution = await executionOf(store, operation);
    const text = execution ? await textOf(store, execution.text_id) : "";
    return shortened({ ...result, output: await maskSecrets(store, text, result.output) });
  },
  isDone: ({ exit_code }) => exit_code === 0,
  async ended(inside, operation, { state, result }) {
    const { store, clock } = inside;
    const execution = await executionOf(store, operation);
    const host = await store.hosts.get(operation.host_id);
    if (!execution || !host) return;
    // No answer is as if the agent had ended the script: nobody knows what it has done.
    const ended = result ?? { exit_code: state === "expired" ? -1 : null, output: "", runtime: 0 };
    const isCancelled = state === "cancelled";
    await store.scriptExecutions.update({
      where: eq("id", execution.id),
      set: { ...ended, state: isCancelled ? "cancelled" : "ended", ended_at: clock.iso() },
    });
    if (execution.batch_uuid !== null) await endedInBatch(inside, operation.uuid, isCancelled ? null : ended.exit_code);
    if (isCancelled) return;
    await recordActivity(
      await requesterOf(inside, operation),
      "ran_script",
      {
        host_id: host.id,
        host_display_name: host.display_name,
        script_execution_id: operation.uuid,
        script_name: execution.script_name,
        async: !execution.is_sync,
        policy_id: null,
        policy_name: null,
        ...(execution.batch_uuid === null ? {} : { batch_execution_id: execution.batch_uuid }),
      },
      { hostId: host.id, isHostOnly: execution.batch_uuid !== null },
    );
  },
};
