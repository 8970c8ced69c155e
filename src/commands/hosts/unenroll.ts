import { hostDetailsApi } from "../../api/host-details.ts";
import { MdmOffCommand } from "../../cli/features/mdm-off.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class HostsUnenroll extends MdmOffCommand {
  static override summary = "Turn off device management for a host.";
  static override description =
    "An Apple device is asked to remove its enrollment profile. Until it answers, `svc hosts get` shows device management " +
    "as on, and `svc hosts cancel` withdraws the request.";
  static override destructive = true;
  static override endpoints = [hostDetailsApi.unenrollByPatch];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --yes"];

  async run() {
    const { args: given, flags } = await this.parse(HostsUnenroll);
    const host = await this.host(given.host);
    await this.turnOff(host, {
      dryRun: flags["dry-run"],
      send: () => this.call(hostDetailsApi.unenrollByPatch, { params: { id: host.id } }),
    });
  }
}
