import * as Flags from "@oclif/core/flags";
import { deviceProfilesApi } from "../../api/devices/profiles.ts";
import { deviceApi } from "../../api/edge/device.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { deviceArgs, deviceErrorOf, deviceFlags, deviceTokenOf } from "../../cli/topics/device.ts";
import { printable } from "../../text/printable.ts";

export default class DeviceResendProfile extends ClientCommand {
  static override summary = "Request a configuration profile of a host again, as its user.";
  static override endpoints = [deviceProfilesApi.resendProfile];
  static override args = deviceArgs;
  static override flags = {
    profile: Flags.string({ summary: "Uuid of the profile.", helpValue: "UUID", required: true }),
    ...deviceFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --profile d0000000-0000-4000-8000-000000000001 --token-stdin < device-token.txt",
  ];

  override explain = deviceErrorOf;

  async run() {
    const { args, flags } = await this.parse(DeviceResendProfile);
    const token = await deviceTokenOf(this.io, args.token, flags);
    const { profile: profile_uuid } = flags;
    if (flags["dry-run"]) {
      const { host } = await this.call(deviceApi.get, { params: { token } });
      this.trying(`send the profile ${printable(profile_uuid)} to ${printable(host.display_name)} again`, {
        profile_uuid,
      });
    }
    await this.call(deviceProfilesApi.resendProfile, { params: { token, profile_uuid } });
    await this.report("the profile is sent to the host again", { profile_uuid });
  }
}
