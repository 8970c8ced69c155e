import { ProfileHost, profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";

export default class MdmProfilesHosts extends ClientCommand {
  static override summary = "List the hosts of a configuration profile, with its status on each and why it has failed.";
  static override endpoints = [profilesApi.hosts];
  static override args = { profile: profileArg };
  static override flags = { ...queryFlags(profilesApi.hosts), ...profileTeamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Passcode --status failed",
    "<%= config.bin %> <%= command.id %> Passcode --team Workstations -o csv",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesHosts);
    const { profile_uuid } = await findProfile(this, args.profile, flags.team);
    const query = queryOf(profilesApi.hosts, flags);
    await this.printList(this.pages(profilesApi.hosts, { params: { profile_uuid }, query }, "hosts"), {
      schema: () => ProfileHost,
      columns: [
        { key: "id" },
        { key: "display_name", header: "name" },
        { key: "status" },
        { key: "operation_type", header: "operation", spare: 1 },
        { key: "detail" },
      ],
    });
  }
}
