import * as Flags from "@oclif/core/flags";
import { assetsApi } from "../../../api/devices/assets.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { failed } from "../../../cli/errors.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { assetArg, findAsset } from "../../../cli/topics/mdm/assets.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmAssetsDownload extends ClientCommand {
  static override summary = "Download the file of an asset declaration, as it was uploaded.";
  static override endpoints = [assetsApi.get];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = { asset: assetArg };
  static override flags = {
    ...profileTeamFlag,
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout. Default: the asset's uuid, in the current folder.",
      helpValue: "FILE",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> com.example.credentials -o credentials.json"];

  async run() {
    const { args, flags } = await this.parse(MdmAssetsDownload);
    const { asset_uuid } = await findAsset(this, args.asset, flags.team);
    const client = await this.client();
    const { headers, body } = await client.open(assetsApi.get, { params: { asset_uuid }, query: { alt: "media" } });
    const announced = Number(headers.get("content-length"));
    const path = flags.out ?? asset_uuid;
    const size = await saveBytes(this.io, path, body);
    if (size !== announced) throw failed(`${printable(path)} has ${size} bytes, the asset ${announced}`);
    if (path !== "-") await this.report(`${plural(size, "byte")} in ${printable(path)}`, { file: path, size });
  }
}
