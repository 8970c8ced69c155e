import * as Flags from "@oclif/core/flags";
import { InstallResult } from "../../api/delivery/software-installs.ts";
import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";

export default class DeviceInstallResult extends ClientCommand {
  static override summary = "Show the result of an installation of a package, as the host's user.";
  static override endpoints = [deviceInstallsApi.installResult];
  static override args = deviceArgs;
  static override flags = {
    install: Flags.string({ summary: "Uuid of the installation.", helpValue: "UUID", required: true }),
    ...deviceFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --install e0000000-0000-4000-8000-000000000001 --token-stdin < device-token.txt",
  ];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceInstallResult);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const params = { token, install_uuid: flags.install };
    await this.printOne(await this.call(deviceInstallsApi.installResult, { params }), {
      schema: () => InstallResult,
      columns: [
        { key: "software_title", header: "software" },
        { key: "status" },
        { key: "message" },
        { key: "output", block: true },
        { key: "ended_at", header: "ended" },
      ],
    });
  }
}
