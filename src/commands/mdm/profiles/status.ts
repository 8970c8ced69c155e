import { profilesApi, StatusCounts } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmProfilesStatus extends ClientCommand {
  static override summary = "Count hosts by the status of a configuration profile.";
  static override endpoints = [profilesApi.status];
  static override args = { profile: profileArg };
  static override flags = profileTeamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> Passcode"];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesStatus);
    const { profile_uuid } = await findProfile(this, args.profile, flags.team);
    const counts = await this.call(profilesApi.status, { params: { profile_uuid } });
    await this.printOne(counts, { schema: () => StatusCounts });
  }
}
