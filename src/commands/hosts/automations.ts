import { LastAutomation, policyRunsApi } from "../../api/delivery/policy-runs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";

export default class HostsAutomations extends ClientCommand {
  static override summary = "List the last automation of each policy that ran one on a host.";
  static override endpoints = [policyRunsApi.ofHost];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsAutomations);
    const { id } = await this.host(args.host);
    const { automations } = await this.call(policyRunsApi.ofHost, { params: { id } });
    await this.printList(automations, {
      schema: () => LastAutomation,
      columns: [
        { key: "policy_name", header: "policy" },
        timeColumn("created_at", "when", this.relativeTimes, this.io.now()),
        { key: "type", header: "what" },
        { key: "status" },
        { key: "error", spare: 1 },
      ],
    });
  }
}
