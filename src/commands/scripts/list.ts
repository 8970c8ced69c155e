import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, noneOfTeam } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { scriptTeamFlag, scriptView } from "../../cli/topics/scripts/scripts.ts";

export default class ScriptsList extends ClientCommand {
  static override summary = "List the saved scripts of a team, or of hosts without a team.";
  static override endpoints = [scriptsApi.list];
  static override flags = { ...queryFlags(scriptsApi.list), ...scriptTeamFlag, ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(ScriptsList);
    const query = queryOf(scriptsApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(scriptsApi.list, { query }, "scripts"), scriptView, noneOfTeam(flags.team));
  }
}
