// What commands for runs of scripts on many hosts share.

import { ScriptBatch, scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { plural } from "../../../text/plural.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, failed } from "../../errors.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { waitFor } from "../../wait.ts";

export const batchArg = args.required("batch execution id of the run");

export const batchView: View = {
  schema: () => ScriptBatch,
  columns: [
    { key: "batch_execution_id", header: "run" },
    { key: "script_name", header: "script" },
    { key: "status" },
    { key: "canceled", header: "cancelled" },
    { key: "targeted_host_count", header: "hosts" },
    { key: "ran_host_count", header: "ran" },
    { key: "errored_host_count", header: "failed" },
    { key: "pending_host_count", header: "pending" },
    { key: "incompatible_host_count", header: "incompatible" },
    { key: "canceled_host_count", header: "not run" },
    { key: "created_at", header: "created" },
    { key: "not_before", header: "not before" },
  ],
};

/** Shows the progress of a run until it has ended. */
export async function waitForScriptBatch(
  command: ClientCommand,
  batch_execution_id: string,
  timeout: string,
): Promise<ScriptBatch> {
  const progress = command.progress("waiting for the hosts ...");
  let batch = await command.call(scriptBatchesApi.get, { params: { batch_execution_id } });
  const done = async () => {
    batch = await command.call(scriptBatchesApi.get, { params: { batch_execution_id } });
    const all = batch.targeted_host_count;
    progress.update(`${all - batch.pending_host_count} of ${plural(all, "host")} done ...`);
    return batch.status === "finished";
  };
  const going = () => ({
    what: `the run ${batch_execution_id} is not over`,
    hint: `\`svc scripts batch get ${batch_execution_id}\` shows it, \`svc scripts batch cancel\` cancels the rest.`,
  });
  await waitFor(command.io, command.stop.signal, { timeout, done, going }).finally(progress.done);
  return batch;
}

/** Prints the run; an error unless the script has ended with 0 on every host. */
export async function concludeScriptBatch(command: ClientCommand, batch: ScriptBatch): Promise<void> {
  await command.printOne(batch, batchView);
  const { targeted_host_count: all, ran_host_count: ran } = batch;
  if (ran === all) return;
  const hint = `\`svc scripts batch hosts ${batch.batch_execution_id} --status errored\` shows what it printed on those where it failed.`;
  if (ran === 0) throw failed("the script did not succeed on any host", hint);
  throw new CliError("partial", `the script did not succeed on ${all - ran} of ${plural(all, "host")}`, hint);
}
