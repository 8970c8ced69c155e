import { assetsApi } from "../../../api/devices/assets.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam } from "../../../cli/flags.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAssetsAdd extends ClientCommand {
  static override summary = "Upload an asset declaration, to which declarations of Apple devices refer.";
  static override description =
    "Declarations refer to an asset by its Identifier, and devices get it with them. To change an asset, delete it and " +
    "upload the new one, first without the profiles that refer to it.";
  static override endpoints = [assetsApi.create];
  static override args = { file: args.required("file: .json") };
  static override flags = { ...profileTeamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> credentials.json --team Workstations"];

  async run() {
    const { args, flags } = await this.parse(MdmAssetsAdd);
    const body = {
      ...(await this.teamFilter(flags.team)),
      asset: await uploadSource(this.io, args.file, "FILE"),
    };
    const of = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`add the asset ${printable(args.file)} to ${of}`, { file: args.file });
    const { asset_uuid } = await this.call(assetsApi.create, { body });
    await this.report(`${printable(args.file)} is asset ${asset_uuid} of ${of}`, { asset_uuid });
  }
}
