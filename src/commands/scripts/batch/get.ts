import { scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { batchArg, batchView, concludeScriptBatch, waitForScriptBatch } from "../../../cli/topics/scripts/batches.ts";
import { timeoutOf, waitFlags } from "../../../cli/wait.ts";

export default class ScriptsBatchGet extends ClientCommand {
  static override summary = "Show on how many hosts a run has ended; with --wait, until all have.";
  static override endpoints = [scriptBatchesApi.get];
  static override args = { run: batchArg };
  static override flags = { ...waitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> 6b1d2f1e-0d1c-4c7d-9b1e-000000000002"];

  async run() {
    const { args, flags } = await this.parse(ScriptsBatchGet);
    const timeout = timeoutOf(flags);
    const params = { batch_execution_id: args.run };
    if (flags.wait) return concludeScriptBatch(this, await waitForScriptBatch(this, args.run, timeout));
    await this.printOne(await this.call(scriptBatchesApi.get, { params }), batchView);
  }
}
