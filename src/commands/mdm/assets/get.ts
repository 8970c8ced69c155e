import { AssetOfTeam, assetsApi } from "../../../api/devices/assets.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { assetArg, findAsset } from "../../../cli/topics/mdm/assets.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmAssetsGet extends ClientCommand {
  static override summary = "Show an asset declaration.";
  static override endpoints = [assetsApi.get];
  static override args = { asset: assetArg };
  static override flags = profileTeamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> com.example.credentials"];

  async run() {
    const { args, flags } = await this.parse(MdmAssetsGet);
    const { asset_uuid } = await findAsset(this, args.asset, flags.team);
    const asset = await this.call(assetsApi.get, { params: { asset_uuid } });
    await this.printOne(asset, { schema: () => AssetOfTeam });
  }
}
