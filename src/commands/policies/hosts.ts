import * as Flags from "@oclif/core/flags";
import { hostsApi } from "../../api/hosts.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { hostView } from "../../cli/host-view.ts";
import { PoliciesCommand, scopeFlag } from "../../cli/policy-view.ts";

export default class PoliciesHosts extends PoliciesCommand {
  static override summary = "List the hosts that fail a policy, or those that pass it.";
  static override description = "With --team a global policy may be named too: its hosts in that team are listed.";
  static override endpoints = [hostsApi.list];
  static override args = { policy: args.policy };
  static override flags = {
    failing: Flags.boolean({ summary: "Hosts that fail it: the default.", exclusive: ["passing"] }),
    passing: Flags.boolean({ summary: "Hosts that pass it, instead." }),
    ...scopeFlag,
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --failing",
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --team Workstations --failing -o csv --fields id,hostname",
  ];

  async run() {
    const { args: given, flags } = await this.parse(PoliciesHosts);
    const scope = await this.scope(flags.team);
    const { id } = await this.own(given.policy, scope.teamId);
    const query = {
      policy_id: id,
      // Without a response the server lists hosts that the policy is not for, too.
      policy_response: flags.passing ? ("passing" as const) : ("failing" as const),
      ...(scope.teamId === null ? {} : { team_id: scope.teamId }),
    };
    const hosts = this.pages(hostsApi.list, { query }, "hosts");
    await this.printList(hosts, hostView(this.relativeTimes, this.io.now()));
  }

  /** A team's policy; where the team has none of that name, a global one. */
  private async own(text: string, teamId: number | null) {
    const global = { teamId: null, name: "globally" };
    if (teamId === null) return this.policy(text, global);
    const own = (await this.policiesIn({ teamId, name: "" })).filter(
      ({ id, name }) => String(id) === text || name === text.normalize("NFC").trim(),
    );
    return own[0] ?? this.policy(text, global);
  }
}
