import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { findPolicy, policyScope, scopeFlag } from "../../cli/topics/policies.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class PoliciesResetResults extends ClientCommand {
  static override summary = "Delete all results of a policy, so that hosts that still fail are newly failing.";
  static override destructive = true;
  static override description =
    "Hosts answer again with their next poll, and automations run on those that fail. To keep the results, see `policies reset`.";
  static override endpoints = [policiesApi.reset];
  static override args = { policy: args.policy };
  static override flags = { ...scopeFlag, ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --yes",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(PoliciesResetResults);
    const policy = await findPolicy(this, args.policy, await policyScope(this, flags.team));
    const { id, name, passing_host_count, failing_host_count } = policy;
    const results = plural(passing_host_count + failing_host_count, "result");
    const what = `delete ${results} of policy ${printable(name)}`;
    if (flags["dry-run"]) this.trying(what, { id, name, passing_host_count, failing_host_count });
    await this.confirm(`Delete ${results} of policy ${printable(name)}?`);
    await this.call(policiesApi.reset, { params: { id } });
    await this.report(`deleted ${results} of policy ${printable(name)}`, { id, name });
  }
}
