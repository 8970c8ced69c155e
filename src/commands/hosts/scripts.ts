import { HostScript, scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class HostsScripts extends ClientCommand {
  static override summary = "List the saved scripts that can run on a host, with their last run on it.";
  static override endpoints = [scriptsApi.ofHost];
  static override args = { host: args.host };
  static override flags = { ...queryFlags(scriptsApi.ofHost), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> linux-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsScripts);
    const { id } = await this.host(args.host);
    const query = queryOf(scriptsApi.ofHost, flags);
    await this.printList(this.pages(scriptsApi.ofHost, { params: { id }, query }, "scripts"), {
      schema: () => HostScript,
      columns: [
        { key: "script_id", header: "id" },
        { key: "name" },
        { key: "last_execution.status", header: "last run" },
        { key: "last_execution.executed_at", header: "at" },
        { key: "last_execution.execution_id", header: "execution id" },
      ],
    });
  }
}
