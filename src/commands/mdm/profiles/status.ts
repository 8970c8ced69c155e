import { profilesApi, StatusCounts } from "../../../api/devices/profiles.ts";
import { ProfilesCommand, profileArg, profileTeamFlag } from "../../../cli/features/profiles.ts";

export default class MdmProfilesStatus extends ProfilesCommand {
  static override summary = "Count hosts by the status of a configuration profile.";
  static override endpoints = [profilesApi.status];
  static override args = { profile: profileArg };
  static override flags = profileTeamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> Passcode"];

  async run() {
    const { args: given, flags } = await this.parse(MdmProfilesStatus);
    const { profile_uuid } = await this.profile(given.profile, flags.team);
    const counts = await this.call(profilesApi.status, { params: { profile_uuid } });
    await this.printOne(counts, { schema: () => StatusCounts });
  }
}
