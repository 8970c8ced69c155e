import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam } from "../../../cli/flags.ts";
import {
  activationFlag,
  activationPart,
  labelFlags,
  labelsOf,
  profileTeamFlag,
  waitForDelivery,
} from "../../../cli/topics/mdm/profiles.ts";
import { timeoutOf, waitFlags } from "../../../cli/wait.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmProfilesAdd extends ClientCommand {
  static override summary = "Upload a configuration profile.";
  static override description =
    "A .mobileconfig file is named by its PayloadDisplayName, a .json or .xml file after the file. " +
    "With --wait the command ends when the profile is verified on all hosts that it is for (exit code 6 if it failed on some).";
  static override endpoints = [profilesApi.create, profilesApi.status];
  static override args = { file: args.required("file: .mobileconfig, .json or .xml") };
  static override flags = { ...profileTeamFlag, ...activationFlag, ...labelFlags, ...waitFlags, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> wifi.mobileconfig",
    "<%= config.bin %> <%= command.id %> wifi.mobileconfig --wait --timeout 30m",
    "<%= config.bin %> <%= command.id %> updates.json --activation activation.json",
    "<%= config.bin %> <%= command.id %> wifi.mobileconfig --team Workstations --labels-include-any Loaners",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesAdd);
    const timeout = timeoutOf(flags);
    const body = {
      ...(await this.teamFilter(flags.team)),
      ...labelsOf(flags),
      profile: await uploadSource(this.io, args.file, "FILE"),
      ...(await activationPart(this, flags.activation)),
    };
    const of = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`add the profile ${printable(args.file)} to ${of}`, { file: args.file });
    const { profile_uuid } = await this.call(profilesApi.create, { body });
    const added = `${printable(args.file)} is profile ${profile_uuid} of ${of}`;
    if (!flags.wait) return this.report(added, { profile_uuid });
    this.note(added);
    await this.report(...(await waitForDelivery(this, profile_uuid, timeout)));
  }
}
