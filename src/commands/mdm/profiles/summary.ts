import { profilesApi, StatusCounts } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmProfilesSummary extends ClientCommand {
  static override summary = "Count the hosts of a team by the status of their settings: profiles and disk encryption.";
  static override endpoints = [profilesApi.summary];
  static override flags = profileTeamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmProfilesSummary);
    const counts = await this.call(profilesApi.summary, { query: await this.teamFilter(flags.team) });
    await this.printOne(counts, { schema: () => StatusCounts });
  }
}
