import * as Flags from "@oclif/core/flags";
import { setupExperienceApi } from "../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { dryRunFlag, ofTeam, teamFlag } from "../../cli/flags.ts";

const toggle = (summary: string) => Flags.boolean({ summary, allowNo: true });

export default class MdmSetup extends ClientCommand {
  static override summary = "Change what happens on the devices of a team before their users can use them.";
  static override description =
    "`svc teams get` and `svc config get mdm.macos_setup` show the settings. `svc mdm local-account` changes those of " +
    "accounts.";
  static override endpoints = [setupExperienceApi.change];
  static override flags = {
    ...teamFlag,
    "enable-end-user-authentication": toggle("Users sign in before their device enrolls."),
    "enable-release-device-manually": toggle("Devices wait in the setup assistant until a command releases them."),
    "manual-agent-install": toggle("The bootstrap package installs the agent."),
    "lock-end-user-info": toggle("Users cannot change the names of their account."),
    "require-all-software-macos": toggle("The setup of a Mac ends only if all of its software could be installed."),
    "require-all-software-windows": toggle(
      "The setup of a Windows host ends only if all of its software could be installed.",
    ),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations --enable-release-device-manually",
    "<%= config.bin %> <%= command.id %> --no-lock-end-user-info",
  ];

  async run() {
    const { flags } = await this.parse(MdmSetup);
    const changes = Object.fromEntries(
      Object.entries({
        enable_end_user_authentication: flags["enable-end-user-authentication"],
        enable_release_device_manually: flags["enable-release-device-manually"],
        manual_agent_install: flags["manual-agent-install"],
        lock_end_user_info: flags["lock-end-user-info"],
        require_all_software_macos: flags["require-all-software-macos"],
        require_all_software_windows: flags["require-all-software-windows"],
      }).filter(([, value]) => value !== undefined),
    );
    if (Object.keys(changes).length === 0) throw usage("no setting is given", "See `svc mdm setup --help`.");
    const body = { ...(await this.teamFilter(flags.team)), ...changes };
    const of = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`change the setup of ${of}`, body);
    await this.call(setupExperienceApi.change, { body });
    await this.report(`changed the setup of ${of}`, body);
  }
}
