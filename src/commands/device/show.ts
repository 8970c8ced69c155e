import { DeviceHost, deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceShow extends ClientCommand {
  static override summary = "Show a host as its user sees it.";
  static override endpoints = [deviceApi.get];
  static override args = deviceArgs;
  static override flags = deviceFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> --token-stdin < device-token.txt",
    "<%= config.bin %> <%= command.id %> --token-stdin -o json --fields hostname,status < device-token.txt",
  ];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceShow);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { host } = await this.call(deviceApi.get, { params: { token } });
    await this.printOne(host, {
      schema: () => DeviceHost,
      columns: [
        { key: "display_name", header: "host" },
        { key: "hostname" },
        { key: "status" },
        timeColumn("seen_time", "last seen", this.relativeTimes, this.io.now()),
        { key: "platform" },
        { key: "os_version", header: "os version" },
        { key: "hardware_serial", header: "serial number" },
        { key: "hardware_model", header: "model" },
        { key: "disk_encryption_enabled", header: "disk encrypted" },
        { key: "issues.failing_policies_count", header: "failing policies" },
        { key: "mdm.device_status", header: "state" },
      ],
    });
  }
}
