import * as Flags from "@oclif/core/flags";
import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { failed } from "../../../cli/errors.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmProfilesDownload extends ClientCommand {
  static override summary = "Download the file of a configuration profile, as it was uploaded.";
  static override endpoints = [profilesApi.get];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override args = { profile: profileArg };
  static override flags = {
    ...profileTeamFlag,
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout. Default: the profile's uuid, in the current folder.",
      helpValue: "FILE",
    }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Passcode -o passcode.json",
    "<%= config.bin %> <%= command.id %> Passcode -o -",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesDownload);
    const { profile_uuid } = await findProfile(this, args.profile, flags.team);
    const client = await this.client();
    const { headers, body } = await client.open(profilesApi.get, { params: { profile_uuid }, query: { alt: "media" } });
    const announced = Number(headers.get("content-length"));
    const path = flags.out ?? profile_uuid;
    const size = await saveBytes(this.io, path, body);
    if (size !== announced) throw failed(`${printable(path)} has ${size} bytes, the profile ${announced}`);
    if (path !== "-") await this.report(`${plural(size, "byte")} in ${printable(path)}`, { file: path, size });
  }
}
