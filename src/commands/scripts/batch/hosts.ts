import { ScriptBatchHost, scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { batchArg } from "../../../cli/topics/scripts/batches.ts";
import { printable } from "../../../text/printable.ts";

export default class ScriptsBatchHosts extends ClientCommand {
  static override summary = "List the hosts of a run in one state, with the beginning of what they have printed.";
  static override endpoints = [scriptBatchesApi.hosts];
  static override args = { run: batchArg };
  static override flags = { ...queryFlags(scriptBatchesApi.hosts), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 6b1d2f1e-0d1c-4c7d-9b1e-000000000002 --status errored",
  ];

  async run() {
    const { args, flags } = await this.parse(ScriptsBatchHosts);
    const query = queryOf(scriptBatchesApi.hosts, flags);
    const params = { batch_execution_id: args.run };
    await this.printList(this.pages(scriptBatchesApi.hosts, { params, query }, "hosts"), {
      schema: () => ScriptBatchHost,
      columns: [
        { key: "id" },
        { key: "display_name", header: "host" },
        { key: "script_status", header: "status" },
        { key: "script_executed_at", header: "executed" },
        { key: "script_output_preview", header: "output", text: (text) => printable(String(text)) },
        { key: "script_execution_id", header: "execution id" },
      ],
    });
  }
}
