import * as Flags from "@oclif/core/flags";
import { CommandResult } from "../../api/devices/commands.ts";
import { deviceInstallsApi } from "../../api/edge/device-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { commandView } from "../../cli/topics/mdm/command.ts";

export default class DeviceCommandResult extends ClientCommand {
  static override summary = "Show the result of an installation of a store app, as the host's user.";
  static override endpoints = [deviceInstallsApi.commandResult];
  static override args = deviceArgs;
  static override flags = {
    command: Flags.string({ summary: "Uuid of the command.", helpValue: "UUID", required: true }),
    ...deviceFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --command e0000000-0000-4000-8000-000000000003 --token-stdin < device-token.txt",
  ];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceCommandResult);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const params = { token, command_uuid: flags.command };
    const { results = [] } = await this.call(deviceInstallsApi.commandResult, { params });
    const { columns } = commandView(this.relativeTimes, this.io.now());
    await this.printList(only(results), { schema: () => CommandResult, columns }, "the host has not answered yet");
  }
}

async function* only<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield rows;
}
