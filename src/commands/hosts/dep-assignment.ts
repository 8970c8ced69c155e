import { abmApi, DepAssignment } from "../../api/devices/abm.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class HostsDepAssignment extends ClientCommand {
  static override summary = "Show what the business portal knows of a host, and whether it got its profile.";
  static override endpoints = [abmApi.assignment];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsDepAssignment);
    const { id } = await this.host(args.host);
    await this.printOne(await this.call(abmApi.assignment, { params: { id } }), { schema: () => DepAssignment });
  }
}
