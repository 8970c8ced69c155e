import * as Flags from "@oclif/core/flags";
import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { policyScope, scopeFlag } from "../../cli/topics/policies.ts";

export default class PoliciesCount extends ClientCommand {
  static override summary = "Count policies.";
  static override endpoints = [policiesApi.countGlobal, policiesApi.countTeam];
  static override flags = {
    ...queryFlags(policiesApi.countGlobal),
    ...scopeFlag,
    inherited: Flags.boolean({ summary: "Include the global policies.", dependsOn: ["team"] }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations --inherited",
  ];

  async run() {
    const { flags } = await this.parse(PoliciesCount);
    const { teamId } = await policyScope(this, flags.team);
    const query = queryOf(policiesApi.countGlobal, flags);
    const reply =
      teamId === null
        ? await this.call(policiesApi.countGlobal, { query })
        : await this.call(policiesApi.countTeam, {
            params: { team_id: teamId },
            query: { ...query, merge_inherited: flags.inherited === true },
          });
    if (this.structured) await this.printOne(reply, { schema: () => policiesApi.countGlobal.response });
    else this.log(String(reply.count));
  }
}
