import * as Flags from "@oclif/core/flags";
import { setupExperienceApi } from "../../api/delivery/setup-experience.ts";
import { SetupSwitches } from "../../api/settings/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { dryRunFlag, ofTeam, teamFlag } from "../../cli/flags.ts";

export default class MdmLocalAccount extends ClientCommand {
  static override summary = "Set whether the Macs of a team get a managed local account, and what their users may do.";
  static override endpoints = [setupExperienceApi.localAccount];
  static override flags = {
    ...teamFlag,
    enable: Flags.boolean({ summary: "Macs get a managed local account.", allowNo: true }),
    "end-user-type": Flags.option({ options: SetupSwitches.shape.end_user_local_account_type.options })({
      summary: "The user's own account; none: there is only the managed one.",
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations --enable --end-user-type standard",
    "<%= config.bin %> <%= command.id %> --no-enable --end-user-type admin",
  ];

  async run() {
    const { flags } = await this.parse(MdmLocalAccount);
    const { enable, "end-user-type": type } = flags;
    if (enable === undefined && type === undefined)
      throw usage("no setting is given", "Give --enable, --no-enable or --end-user-type.");
    const body = {
      ...(await this.teamFilter(flags.team)),
      ...(enable === undefined ? {} : { enable_managed_local_account: enable }),
      ...(type === undefined ? {} : { end_user_local_account_type: type }),
    };
    const of = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`change the local accounts of ${of}`, body);
    await this.call(setupExperienceApi.localAccount, { body });
    await this.report(`changed the local accounts of ${of}`, body);
  }
}
