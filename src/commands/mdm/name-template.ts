import * as Args from "@oclif/core/args";
import { hostNamesApi } from "../../api/devices/host-names.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, ofTeam, teamFlag } from "../../cli/flags.ts";

export default class MdmNameTemplate extends ClientCommand {
  static override summary = "Set how the Apple devices of a team are called, or those without a team.";
  static override description =
    "Variables stand for what differs between devices: $SVC_VAR_HOST_HARDWARE_SERIAL, $SVC_VAR_HOST_UUID, " +
    "$SVC_VAR_HOST_PLATFORM and those of the end user, such as $SVC_VAR_HOST_END_USER_IDP_USERNAME, and custom variables " +
    "($SVC_SECRET_NAME). An empty template turns this off: devices keep the names that they have. iPhones and iPads take " +
    "names only if they are supervised. `svc hosts get HOST` shows the state of a host's name.";
  static override endpoints = [hostNamesApi.setTemplate];
  static override args = {
    template: Args.string({ required: true, description: "the template, in quotes; empty: devices keep their names" }),
  };
  static override flags = { ...teamFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Mac-$SVC_VAR_HOST_HARDWARE_SERIAL' --team Workstations",
    "<%= config.bin %> <%= command.id %> '' --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmNameTemplate);
    const body = { ...(await this.teamFilter(flags.team)), name_template: args.template };
    const what = `the name template of ${ofTeam(flags.team)}`;
    if (flags["dry-run"]) this.trying(`change ${what}`, body);
    await this.call(hostNamesApi.setTemplate, { body });
    await this.report(`changed ${what}`, body);
  }
}
