import * as Flags from "@oclif/core/flags";
import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { countOf, findPolicies, policiesIn, policyScope, scopeFlag } from "../../cli/topics/policies.ts";
import { printable } from "../../text/printable.ts";

export default class PoliciesReset extends ClientCommand {
  static override summary = "Reset the automations of policies, so that they report every failing host again.";
  static override description = "This only affects policies whose webhook or ticket automation is turned on.";
  static override endpoints = [policiesApi.resetAutomations];
  static override strict = false;
  static override args = { policies: args.policies };
  static override flags = {
    ...scopeFlag,
    "all-policies": Flags.boolean({ summary: "All policies of --team.", dependsOn: ["team"] }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted'",
    "<%= config.bin %> <%= command.id %> --team Workstations --all-policies",
  ];

  async run() {
    const { argv, flags } = await this.parse(PoliciesReset);
    const all = flags["all-policies"] === true;
    if (all === argv.length > 0) throw usage("no policies are given", "Name them, or give --team and --all-policies.");
    const scope = await policyScope(this, flags.team);
    const policies = all ? await policiesIn(this, scope) : await findPolicies(this, argv.map(String), scope);
    const shown = policies.map(({ id, name, failing_host_count }) => ({ id, name, failing_host_count }));
    const [only] = shown;
    const what = shown.length === 1 && only ? `policy ${printable(only.name)}` : countOf(shown.length);
    if (flags["dry-run"]) this.trying(`reset the automations of ${what}`, shown);
    const body = all ? { team_ids: [scope.teamId ?? 0] } : { policy_ids: shown.map(({ id }) => id) };
    await this.call(policiesApi.resetAutomations, { body });
    await this.report(`reset the automations of ${what}`, { reset: shown.length, policies: shown });
  }
}
