import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmProfilesDelete extends ClientCommand {
  static override summary = "Delete a configuration profile. Hosts that have it remove it.";
  static override destructive = true;
  static override endpoints = [profilesApi.delete];
  static override args = { profile: profileArg };
  static override flags = { ...profileTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Passcode --yes"];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesDelete);
    const { profile_uuid, name } = await findProfile(this, args.profile, flags.team);
    const what = `configuration profile ${printable(name)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { profile_uuid, name });
    await this.confirm(`Delete ${what}? Hosts that have it remove it.`);
    await this.call(profilesApi.delete, { params: { profile_uuid } });
    await this.report(`deleted ${what}`, { profile_uuid, name });
  }
}
