import { Policy, policiesApi } from "../../api/checks/policies.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { findPolicy, policyBody, policyFlags, policyScope, scopeFlag } from "../../cli/topics/policies.ts";

export default class PoliciesUpdate extends ClientCommand {
  static override summary = "Change a policy.";
  static override description =
    "A changed query or platform clears the results. Hosts report new results within an hour, or earlier with `svc hosts refetch`.";
  static override endpoints = [policiesApi.modifyGlobal, policiesApi.modifyTeam];
  static override args = { policy: args.policy };
  static override flags = { ...policyFlags, ...scopeFlag, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --resolution 'Turn on FileVault in System Settings.'",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations --no-critical",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations --continuous-automations-enabled",
  ];

  async run() {
    const { args, flags } = await this.parse(PoliciesUpdate);
    const body = { ...(await readBody(this.io, flags.input)), ...policyBody(flags) };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const scope = await policyScope(this, flags.team);
    const before = await findPolicy(this, args.policy, scope);
    if (flags["dry-run"]) {
      this.trying(`change policy ${before.name}`, { id: before.id, name: before.name }, changesOf(before, body));
    }
    const { policy } =
      scope.teamId === null
        ? await this.call(policiesApi.modifyGlobal, { params: { id: before.id }, body })
        : await this.call(policiesApi.modifyTeam, { params: { team_id: scope.teamId, policy_id: before.id }, body });
    await this.report(`changed policy ${policy.name}`, policy, { schema: () => Policy });
  }
}
