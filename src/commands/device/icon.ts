import * as Flags from "@oclif/core/flags";
import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { downloadFile, downloadFlags } from "../../cli/download.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { ownIcon } from "../../cli/topics/software/icons.ts";

export default class DeviceIcon extends ClientCommand {
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Download the icon of a software title as a host's user sees it.";
  static override endpoints = [deviceApi.softwareIcon];
  static override args = deviceArgs;
  static override flags = {
    title: Flags.string({ summary: "Id of the software title.", helpValue: "ID", required: true }),
    ...deviceFlags,
    ...downloadFlags("icon"),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --title 1 --token-stdin -o icon.png < device-token.txt",
  ];

  async run() {
    const { args, flags } = await this.parse(DeviceIcon);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const client = await this.client();
    const input = { params: { token, software_title_id: flags.title } };
    return downloadFile(
      this,
      (headers, signal) => ownIcon(() => client.open(deviceApi.softwareIcon, input, { headers, signal })),
      "the icon",
      flags,
    );
  }

  override explain = deviceErrorOf;
}
