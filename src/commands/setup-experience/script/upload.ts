import { setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam, teamFlag } from "../../../cli/flags.ts";
import { printable } from "../../../text/printable.ts";

export default class SetupExperienceScriptUpload extends ClientCommand {
  static override summary = "Upload the script that the hosts of a team run at the end of their setup.";
  static override description =
    "A team has at most one: delete it before you upload another one. .sh and .py run on macOS and Linux, .ps1 on Windows.";
  static override endpoints = [setupExperienceApi.addScript];
  static override args = { file: args.required("file: .sh, .py or .ps1") };
  static override flags = { ...teamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> welcome.sh --team Workstations"];

  async run() {
    const { args, flags } = await this.parse(SetupExperienceScriptUpload);
    const team = await this.teamFilter(flags.team);
    const of = ofTeam(flags.team);
    const what = `${printable(args.file)} the setup script of ${of}`;
    const body = { ...team, script: await uploadSource(this.io, args.file, "FILE") };
    if (flags["dry-run"]) this.trying(`make ${what}`, { file: args.file, ...team });
    await this.call(setupExperienceApi.addScript, { body });
    await this.report(`made ${what}`, { file: args.file, ...team });
  }
}
