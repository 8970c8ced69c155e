import * as Flags from "@oclif/core/flags";
import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import {
  activationFlag,
  activationPart,
  findProfile,
  labelFlags,
  labelsOf,
  profileArg,
  profileTeamFlag,
} from "../../../cli/topics/mdm/profiles.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmProfilesUpdate extends ClientCommand {
  static override summary = "Replace the file, the activation or the labels of a configuration profile.";
  static override description =
    "The new file has to have the identifier of the profile. Hosts that have the profile get it again. An empty " +
    "file for --activation removes the declaration's own activation.";
  static override endpoints = [profilesApi.update];
  static override args = { profile: profileArg };
  static override flags = {
    ...profileTeamFlag,
    file: Flags.string({ summary: "File that replaces the profile's; - is stdin.", helpValue: "FILE" }),
    ...activationFlag,
    ...labelFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Passcode --file passcode.json",
    "<%= config.bin %> <%= command.id %> Passcode --labels-exclude-any Loaners",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesUpdate);
    const labels = labelsOf(flags);
    if (flags.file === undefined && flags.activation === undefined && Object.keys(labels).length === 0)
      throw usage("nothing is to be changed", "Give --file, --activation or one of the flags for labels.");
    const { profile_uuid, name } = await findProfile(this, args.profile, flags.team);
    const what = `configuration profile ${printable(name)}`;
    const files = {
      ...(flags.file === undefined ? {} : { profile: await uploadSource(this.io, flags.file, "--file") }),
      ...(await activationPart(this, flags.activation)),
    };
    if (flags["dry-run"]) this.trying(`change ${what}`, { profile_uuid });
    await this.call(profilesApi.update, { params: { profile_uuid }, body: { ...labels, ...files } });
    await this.report(`changed ${what}`, { profile_uuid });
  }
}
