import * as Flags from "@oclif/core/flags";
import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { countOf, findPolicies, policyScope, scopeFlag } from "../../cli/topics/policies.ts";
import { printable } from "../../text/printable.ts";

export default class PoliciesDelete extends ClientCommand {
  static override summary = "Delete policies, with their results.";
  static override destructive = true;
  static override description =
    "Asks y or N for one policy. For several, you must type their number or give --confirm NUMBER.";
  static override endpoints = [policiesApi.deleteGlobal, policiesApi.deleteTeam];
  static override strict = false;
  static override args = { policies: args.policies };
  static override flags = {
    ...scopeFlag,
    confirm: Flags.string({ summary: "Number of policies that will be deleted." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --yes",
    "<%= config.bin %> <%= command.id %> 'Firewall on' --team Workstations --yes",
  ];

  async run() {
    const { argv, flags } = await this.parse(PoliciesDelete);
    if (argv.length === 0) throw usage("no policies are given", "Name them, by name or id.");
    const scope = await policyScope(this, flags.team);
    const policies = (await findPolicies(this, argv.map(String), scope)).map(({ id, name }) => ({ id, name }));
    const [only] = policies;
    const what = policies.length === 1 && only ? `policy ${printable(only.name)}` : countOf(policies.length);
    if (flags["dry-run"]) this.trying(`delete ${what}`, policies);
    if (policies.length === 1 && flags.confirm === undefined) await this.confirm(`Delete ${what}?`);
    else await this.confirmTyped(`Delete ${what}?`, String(policies.length));

    const body = { ids: policies.map(({ id }) => id) };
    if (scope.teamId === null) await this.call(policiesApi.deleteGlobal, { body });
    else await this.call(policiesApi.deleteTeam, { params: { team_id: scope.teamId }, body });
    await this.report(`deleted ${what}`, { deleted: policies.length, policies });
  }
}
