import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { resultView } from "../../cli/topics/scripts/scripts.ts";

export default class ScriptsResult extends ClientCommand {
  static override summary = "Show what a script has printed on a host, and how it ended.";
  static override description = "Results can also be read after their host was deleted.";
  static override endpoints = [scriptsApi.result];
  static override args = { execution: args.required("execution id of the run") };
  static override examples = ["<%= config.bin %> <%= command.id %> 6b1d2f1e-0d1c-4c7d-9b1e-000000000001"];

  async run() {
    const { args } = await this.parse(ScriptsResult);
    const result = await this.call(scriptsApi.result, { params: { execution_id: args.execution } });
    await this.printOne(result, resultView);
  }
}
