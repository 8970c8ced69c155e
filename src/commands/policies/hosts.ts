import * as Flags from "@oclif/core/flags";
import { type Policy, policiesApi } from "../../api/checks/policies.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { pagesWithFields, printedFields } from "../../cli/topics/hosts/printed-fields.ts";
import { hostView } from "../../cli/topics/hosts/view.ts";
import { findPolicy, policyScope, scopeFlag } from "../../cli/topics/policies.ts";
import { plural } from "../../text/plural.ts";

export default class PoliciesHosts extends ClientCommand {
  static override summary =
    "List the hosts that fail a policy, those that pass it, or those that have not answered it.";
  static override description = "With --team, a global policy can also be named; its hosts in that team are listed.";
  static override endpoints = [hostsApi.list, policiesApi.listTeam];
  static override args = { policy: args.policy };
  static override flags = {
    failing: Flags.boolean({ summary: "List hosts that fail the policy (default).", exclusive: ["passing"] }),
    passing: Flags.boolean({ summary: "List hosts that pass the policy." }),
    unanswered: Flags.boolean({
      summary: "List hosts that the policy applies to and that have not answered it yet.",
      exclusive: ["passing", "failing"],
    }),
    ...scopeFlag,
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --failing",
    "<%= config.bin %> <%= command.id %> 'Disk encrypted' --team Workstations --failing -o csv --fields id,hostname",
  ];

  async run() {
    const { args, flags } = await this.parse(PoliciesHosts);
    const scope = await policyScope(this, flags.team);
    const policy = await this.#findPolicyFor(args.policy, scope.teamId);
    const query = {
      policy_id: policy.id,
      // Without policy_response the server also lists hosts that the policy does not apply to.
      policy_response: flags.unanswered
        ? ("none" as const)
        : flags.passing
          ? ("passing" as const)
          : ("failing" as const),
      ...(scope.teamId === null ? {} : { team_id: scope.teamId }),
    };
    const view = hostView(this.relativeTimes, this.io.now());
    const hosts = pagesWithFields(printedFields(this, view), (part) =>
      this.pages(hostsApi.list, { query: { ...query, ...part } }, "hosts"),
    );
    await this.printList(hosts, view, whyNone(policy));
  }

  /** The team's policy, or a global one if the team has none of that name. */
  async #findPolicyFor(text: string, teamId: number | null) {
    const global = { teamId: null, team: null, name: "globally" };
    if (teamId === null) return findPolicy(this, text, global);
    // In the team's list, inherited policies have the counts of the team's own hosts.
    const input = { params: { id: teamId }, query: { merge_inherited: true } };
    const { policies } = await this.call(policiesApi.listTeam, input);
    const matches = policies.filter(({ id, name }) => String(id) === text || name === text.normalize("NFC").trim());
    return matches.find(({ team_id }) => team_id === teamId) ?? matches[0] ?? findPolicy(this, text, global);
  }
}

/** The message for an empty list. It distinguishes hosts that have not reported a result yet. */
function whyNone({ passing_host_count, failing_host_count, unanswered_host_count: unanswered }: Policy): string {
  if (unanswered === 0) return "none found";
  if (passing_host_count + failing_host_count === 0)
    return `no results yet: ${plural(unanswered, "host")} ${unanswered === 1 ? "has" : "have"} not answered`;
  return `none found; ${plural(unanswered, "host")} ${unanswered === 1 ? "has" : "have"} not answered yet`;
}
