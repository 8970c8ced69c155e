import { HostConfigurationProfile, hostDetailsApi } from "../../api/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class HostsProfiles extends ClientCommand {
  static override summary = "List the configuration profiles of a host.";
  static override endpoints = [hostDetailsApi.profiles];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args: given } = await this.parse(HostsProfiles);
    const { id } = await this.host(given.host);
    const { profiles } = await this.call(hostDetailsApi.profiles, { params: { id } });
    await this.printList(profiles, {
      schema: HostConfigurationProfile,
      columns: ["profile_uuid", "name", "identifier", { key: "updated_at", header: "updated" }],
    });
  }
}
