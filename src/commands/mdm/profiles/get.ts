import { ConfigurationProfile, profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmProfilesGet extends ClientCommand {
  static override summary = "Show a configuration profile.";
  static override endpoints = [profilesApi.get];
  static override args = { profile: profileArg };
  static override flags = profileTeamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> Passcode"];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesGet);
    const { profile_uuid } = await findProfile(this, args.profile, flags.team);
    const profile = await this.call(profilesApi.get, { params: { profile_uuid } });
    await this.printOne(profile, { schema: () => ConfigurationProfile });
  }
}
