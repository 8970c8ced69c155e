import { assetsApi } from "../../../api/devices/assets.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { assetArg, findAsset } from "../../../cli/topics/mdm/assets.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAssetsDelete extends ClientCommand {
  static override summary = "Delete an asset declaration to which no profile refers.";
  static override destructive = true;
  static override endpoints = [assetsApi.delete];
  static override args = { asset: assetArg };
  static override flags = { ...profileTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> com.example.credentials --yes"];

  async run() {
    const { args, flags } = await this.parse(MdmAssetsDelete);
    const { asset_uuid, identifier } = await findAsset(this, args.asset, flags.team);
    const what = `asset ${printable(identifier)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { asset_uuid, identifier });
    await this.confirm(`Delete ${what}?`);
    await this.call(assetsApi.delete, { params: { asset_uuid } });
    await this.report(`deleted ${what}`, { asset_uuid, identifier });
  }
}
