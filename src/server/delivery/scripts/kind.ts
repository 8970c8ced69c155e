// The operation that runs a script on a host, by its managed agent.

import { HOST_LANE, type OperationHost, type OperationKind, type OperationView } from "../../hosts/operations/kind.ts";
import { endOperation } from "../../hosts/operations/queue.ts";
import { requesterOf } from "../../hosts/operations/requester.ts";
import type { ScriptResult } from "../../hosts/operations/tables.ts";
import { type Entry, recordActivity } from "../../platform/activities/record.ts";
import { byId } from "../../platform/core/maps.ts";
import { recordRuns } from "../../platform/policy-runs/record.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { endedInBatch } from "./batches/hosts.ts";
import { allowedScript, endExecution, executionOf, isOfOtherTeam, storedResult } from "./executions.ts";

const view: OperationView = {
  async upcoming(store, host, operations) {
    const uuids = operations.map(({ uuid }) => uuid);
    const columns = ["uuid", "script_name", "is_sync", "policy_id", "batch_uuid"] as const;
    const rows = await store.scriptExecutions.pick(columns, { where: oneOf("uuid", uuids) });
    const executions = new Map(rows.map((row) => [row.uuid, row]));
    const policies = byId(await store.policies.getMany(rows.flatMap(({ policy_id }) => policy_id ?? [])));
    const policyOf = (uuid: string) => policies.get(executions.get(uuid)?.policy_id ?? 0);
    return operations.map(({ uuid }) => ({
      type: "ran_script",
      details: {
        host_id: host.id,
        host_display_name: host.display_name,
        script_execution_id: uuid,
        batch_execution_id: executions.get(uuid)?.batch_uuid ?? null,
        script_name: executions.get(uuid)?.script_name ?? "",
        async: !executions.get(uuid)?.is_sync,
        policy_id: policyOf(uuid)?.id ?? null,
        policy_name: policyOf(uuid)?.name ?? null,
      },
    }));
  },
  async cancel(inside, host, operation) {
    const execution = await executionOf(inside.store, operation);
    await endOperation(inside, operation, { state: "cancelled", result: null });
    return cancelled(host, execution?.script_name ?? "");
  },
};

const cancelled = (host: OperationHost, script_name: string): Entry => ({
  type: "canceled_run_script",
  details: { host_id: host.id, host_display_name: host.display_name, script_name },
});

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
  outgoing: ({ store }, operation, content) => allowedScript(store, operation, content),
  stored: storedResult,
  isDone: ({ exit_code }) => exit_code === 0,
  async leftTeam(inside, host, operation, teamId) {
    const execution = await executionOf(inside.store, operation);
    if (!execution || !isOfOtherTeam(execution, teamId)) return null;
    await endOperation(inside, operation, { state: "cancelled", result: null });
    return cancelled(host, execution.script_name);
  },
  async ended(inside, operation, ending) {
    const execution = await endExecution(inside, operation, ending);
    const where = eq("id", operation.host_id);
    const [host] = await inside.store.hosts.pick(["id", "display_name"], { where });
    if (!execution || !host) return;
    const isCancelled = ending.state === "cancelled";
    if (execution.batch_uuid !== null)
      await endedInBatch(inside, operation.uuid, isCancelled ? null : execution.exit_code);
    if (isCancelled) return;
    const policy = execution.policy_id === null ? null : await inside.store.policies.get(execution.policy_id);
    const activityId = await recordActivity(
      await requesterOf(inside, operation),
      "ran_script",
      {
        host_id: host.id,
        host_display_name: host.display_name,
        script_execution_id: operation.uuid,
        batch_execution_id: execution.batch_uuid,
        script_name: execution.script_name,
        async: !execution.is_sync,
        policy_id: policy?.id ?? null,
        policy_name: policy?.name ?? null,
      },
      { hostId: host.id, isHostOnly: execution.batch_uuid !== null },
    );
    if (policy)
      await recordRuns(inside, {
        policyId: policy.id,
        hostIds: [host.id],
        activityId,
        isSuccess: execution.exit_code === 0,
      });
  },
};
