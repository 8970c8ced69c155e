import { AutomationActivity, policyRunsApi } from "../../api/delivery/policy-runs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { details } from "../../cli/topics/activities/view.ts";
import { findPolicy, policyScope, scopeFlag } from "../../cli/topics/policies.ts";

export default class PoliciesAutomationActivities extends ClientCommand {
  static override summary = "List what automations of a policy did on hosts, newest first.";
  static override endpoints = [policyRunsApi.list];
  static override args = { policy: args.policy };
  static override flags = { ...queryFlags(policyRunsApi.list), ...scopeFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --status error",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations --query mac-1 --json",
  ];

  async run() {
    const { args, flags } = await this.parse(PoliciesAutomationActivities);
    const { id } = await findPolicy(this, args.policy, await policyScope(this, flags.team));
    const query = queryOf(policyRunsApi.list, flags);
    const runs = this.pages(policyRunsApi.list, { params: { id }, query }, "activities");
    await this.printList(runs, {
      schema: () => AutomationActivity,
      columns: [
        timeColumn("created_at", "when", this.relativeTimes, this.io.now()),
        { key: "host_display_name", header: "host" },
        { key: "type", header: "what" },
        { key: "status" },
        { key: "output", spare: 1 },
        { ...details, spare: 2 },
      ],
    });
  }
}
