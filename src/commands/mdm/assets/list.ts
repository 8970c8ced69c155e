import { assetsApi } from "../../../api/devices/assets.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { noneOfTeam } from "../../../cli/flags.ts";
import { assetView } from "../../../cli/topics/mdm/assets.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
export default class MdmAssetsList extends ClientCommand {
  static override summary = "List the asset declarations of a team, or of hosts without a team.";
  static override endpoints = [assetsApi.list];
  static override flags = profileTeamFlag;
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations -o json",
  ];

  async run() {
    const { flags } = await this.parse(MdmAssetsList);
    const { assets } = await this.call(assetsApi.list, { query: await this.teamFilter(flags.team) });
    await this.printList(assets, assetView, noneOfTeam(flags.team));
  }
}
