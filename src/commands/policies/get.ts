import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { errorColumns } from "../../cli/output/query-errors.ts";
import { findPolicy, policyScope, policyViewOf, scopeFlag } from "../../cli/topics/policies.ts";

export default class PoliciesGet extends ClientCommand {
  static override summary = "Show a policy.";
  static override endpoints = [policiesApi.getGlobal, policiesApi.getTeam];
  static override args = { policy: args.policy };
  static override flags = { ...scopeFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted'",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations -o yaml",
  ];

  async run() {
    const { args, flags } = await this.parse(PoliciesGet);
    const scope = await policyScope(this, flags.team);
    const { id } = await findPolicy(this, args.policy, scope);
    const { policy } =
      scope.teamId === null
        ? await this.call(policiesApi.getGlobal, { params: { id } })
        : await this.call(policiesApi.getTeam, { params: { team_id: scope.teamId, policy_id: id } });
    const view = policyViewOf(this, scope);
    await this.printOne(policy, {
      ...view,
      columns: [
        ...view.columns,
        ...errorColumns([policy]),
        { key: "query" },
        { key: "description" },
        { key: "resolution" },
        { key: "author_name", header: "author" },
        { key: "labels_include_any.name", header: "with labels" },
        { key: "labels_exclude_any.name", header: "without labels" },
        { key: "host_count_updated_at", header: "counted" },
        { key: "updated_at", header: "changed" },
      ],
    });
  }
}
