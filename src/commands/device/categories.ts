import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { categoryView } from "../../cli/topics/software/categories.ts";

export default class DeviceCategories extends ClientCommand {
  static override summary = "List the categories of self-service as a host's user sees them.";
  static override endpoints = [deviceApi.softwareCategories];
  static override args = deviceArgs;
  static override flags = { ...deviceFlags, ...queryFlags(deviceApi.softwareCategories), ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceCategories);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const input = { params: { token }, query: queryOf(deviceApi.softwareCategories, flags) };
    await this.printList(this.pages(deviceApi.softwareCategories, input, "self_service_categories"), categoryView);
  }
}
