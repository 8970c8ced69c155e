import * as Flags from "@oclif/core/flags";
import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { findProfile, profileArg, profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmProfilesResend extends ClientCommand {
  static override summary = "Send a configuration profile again: to a host, or to all hosts on which it has failed.";
  static override endpoints = [profilesApi.resend, profilesApi.resendBatch];
  static override args = { profile: profileArg };
  static override flags = {
    ...profileTeamFlag,
    host: Flags.string({
      summary: "Host that gets it again: id, hostname, uuid or serial number.",
      helpValue: "HOST",
      exclusive: ["failed"],
    }),
    failed: Flags.boolean({ summary: "All hosts on which it has failed." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Passcode --host mac-1.example.com",
    "<%= config.bin %> <%= command.id %> Passcode --failed",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmProfilesResend);
    if (flags.host === undefined && !flags.failed) throw usage("--host HOST or --failed is required");
    const { profile_uuid, name } = await findProfile(this, args.profile, flags.team);
    const what = `configuration profile ${printable(name)}`;
    if (flags.host === undefined) {
      if (flags["dry-run"]) this.trying(`send ${what} again to all hosts on which it has failed`, { profile_uuid });
      const body = { profile_uuid, filters: { profile_status: "failed" as const } };
      await this.call(profilesApi.resendBatch, { body });
      return this.report(`${what} is sent again to all hosts on which it had failed`, { profile_uuid });
    }
    const { id, display_name } = await this.host(flags.host);
    const to = printable(display_name);
    if (flags["dry-run"]) this.trying(`send ${what} to ${to} again`, { profile_uuid, host_id: id });
    await this.call(profilesApi.resend, { params: { id, profile_uuid } });
    return this.report(`${what} is sent to ${to} again`, { profile_uuid, host_id: id });
  }
}
