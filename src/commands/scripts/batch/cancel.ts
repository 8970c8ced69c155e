import { scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { batchArg } from "../../../cli/topics/scripts/batches.ts";
import { plural } from "../../../text/plural.ts";

export default class ScriptsBatchCancel extends ClientCommand {
  static override summary = "Cancel a run on the hosts on which it has not started.";
  static override destructive = true;
  static override endpoints = [scriptBatchesApi.get, scriptBatchesApi.cancel];
  static override args = { run: batchArg };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 6b1d2f1e-0d1c-4c7d-9b1e-000000000002 --yes"];

  async run() {
    const { args, flags } = await this.parse(ScriptsBatchCancel);
    const params = { batch_execution_id: args.run };
    const { script_name, pending_host_count } = await this.call(scriptBatchesApi.get, { params });
    const what = { run: args.run, script_name, pending: pending_host_count };
    if (flags["dry-run"]) this.trying(`cancel the run ${args.run}`, what);
    await this.confirm(
      `Cancel the run of ${script_name}, which ${plural(pending_host_count, "host has", "hosts have")} not ended?`,
    );
    await this.call(scriptBatchesApi.cancel, { params });
    await this.report(`cancelled the run ${args.run}`, { ...what, canceled: true });
  }
}
