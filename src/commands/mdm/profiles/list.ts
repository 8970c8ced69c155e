import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags, noneOfTeam } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { profileTeamFlag, profileView } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmProfilesList extends ClientCommand {
  static override summary = "List the configuration profiles of a team, or of hosts without a team.";
  static override endpoints = [profilesApi.list];
  static override flags = { ...queryFlags(profilesApi.list), ...profileTeamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations -o json",
  ];

  async run() {
    const { flags } = await this.parse(MdmProfilesList);
    const query = queryOf(profilesApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(profilesApi.list, { query }, "profiles"), profileView, noneOfTeam(flags.team));
  }
}
