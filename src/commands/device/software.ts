import { deviceApi } from "../../api/edge/device.ts";
import { HostSoftwareItem } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceSoftware extends ClientCommand {
  static override summary = "List the software on a host as its user sees it.";
  static override endpoints = [deviceApi.software];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...queryFlags(deviceApi.software), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin --query fire < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceSoftware);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const input = { params: { token }, query: queryOf(deviceApi.software, flags) };
    const software = this.pages(deviceApi.software, input, "software");
    await this.printList(software, {
      schema: () => HostSoftwareItem,
      columns: [{ key: "name" }, { key: "installed_versions.version", header: "version" }, { key: "source" }],
    });
  }
}
