import { DevicePolicy, deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DevicePolicies extends ClientCommand {
  static override summary = "List the policies of a host as its user sees them.";
  static override endpoints = [deviceApi.policies];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt"];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DevicePolicies);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { policies } = await this.call(deviceApi.policies, { params: { token } });
    await this.printList(policies, {
      schema: () => DevicePolicy,
      columns: [
        { key: "id" },
        { key: "name" },
        { key: "response", text: (value) => (value === "" ? "not answered" : String(value)) },
        { key: "critical" },
        { key: "resolution" },
      ],
    });
  }
}
