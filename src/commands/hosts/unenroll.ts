import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { turnOffMdm } from "../../cli/topics/hosts/mdm-off.ts";
import { timeoutOf, waitFlags } from "../../cli/wait.ts";

export default class HostsUnenroll extends ClientCommand {
  static override summary = "Turn off device management for a host.";
  static override description =
    "An Apple device is asked to remove its enrollment profile. Until it answers, `svc hosts get` shows device management " +
    "as on, and `svc hosts cancel` withdraws the request. With --wait, the exit code is 0 if the host is not managed any " +
    "more, 1 if the device has refused, and 7 if it has not answered.";
  static override destructive = true;
  static override endpoints = [hostDetailsApi.unenrollByPatch];
  static override args = { host: args.host };
  static override flags = { ...yesFlag, ...waitFlags, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes --wait --timeout 30m --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsUnenroll);
    const timeout = timeoutOf(flags);
    const host = await this.host(args.host);
    await turnOffMdm(this, host, {
      dryRun: flags["dry-run"],
      timeout: flags.wait ? timeout : null,
      send: () => this.call(hostDetailsApi.unenrollByPatch, { params: { id: host.id } }),
    });
  }
}
