import { setupResultsApi } from "../../api/delivery/setup-results.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { setupItemView, shownItems } from "../../cli/topics/mdm/setup-items.ts";

export default class DeviceSetup extends ClientCommand {
  static override summary = "Show how far the setup of a host is, as its user, and begin what comes next.";
  static override endpoints = [setupResultsApi.ofDevice];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceSetup);
    const token = await deviceTokenOf(this.io, args.token, flags);
    if (flags["dry-run"]) this.trying("begin what comes next of the host's setup", {});
    const { setup_experience_results: results } = await this.call(setupResultsApi.ofDevice, { params: { token } });
    await this.printList(shownItems(results.software, results.script), setupItemView);
  }
}
