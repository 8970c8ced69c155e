import * as Flags from "@oclif/core/flags";
import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { errorColumns } from "../../cli/output/query-errors.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { cutToLimit, policyScope, policyViewOf, scopeFlag } from "../../cli/topics/policies.ts";

export default class PoliciesList extends ClientCommand {
  static override summary = "List policies: the global ones, or a team's.";
  static override endpoints = [policiesApi.listGlobal, policiesApi.listTeam];
  static override flags = {
    ...queryFlags(policiesApi.listGlobal),
    ...scopeFlag,
    inherited: Flags.boolean({
      summary: "Include the global policies, with the counts of the team's hosts.",
      dependsOn: ["team"],
    }),
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --order-key failing_host_count --order-direction desc",
    "<%= config.bin %> <%= command.id %> --team Workstations --inherited",
  ];

  async run() {
    const { flags } = await this.parse(PoliciesList);
    const scope = await policyScope(this, flags.team);
    const { teamId } = scope;
    const query = queryOf(policiesApi.listGlobal, flags);
    const policies =
      teamId === null
        ? ((await this.call(policiesApi.listGlobal, { query })).policies ?? [])
        : (
            await this.call(policiesApi.listTeam, {
              params: { id: teamId },
              query: { ...query, merge_inherited: flags.inherited === true },
            })
          ).policies;
    const view = policyViewOf(this, scope);
    const shown = cutToLimit(this, policies);
    await this.printList(shown, { ...view, columns: [...view.columns, ...errorColumns(shown)] });
  }
}
