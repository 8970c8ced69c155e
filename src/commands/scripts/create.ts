import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { uploadSource } from "../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam } from "../../cli/flags.ts";
import { scriptTeamFlag } from "../../cli/topics/scripts/scripts.ts";
import { printable } from "../../text/printable.ts";

export default class ScriptsCreate extends ClientCommand {
  static override summary = "Save a script, which can then be run on the hosts of its team.";
  static override description =
    "Its name is that of the file: .sh and .py run on macOS and Linux, .ps1 on Windows. `$SVC_SECRET_NAME` is replaced by " +
    "the custom variable NAME when a host fetches the script.";
  static override endpoints = [scriptsApi.create];
  static override args = { file: args.required("file: .sh, .py or .ps1") };
  static override flags = { ...scriptTeamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> cleanup.sh --team Workstations"];

  async run() {
    const { args, flags } = await this.parse(ScriptsCreate);
    const body = { ...(await this.teamFilter(flags.team)), script: await uploadSource(this.io, args.file, "FILE") };
    const of = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`save ${printable(args.file)} for ${of}`, { file: args.file });
    const { script_id } = await this.call(scriptsApi.create, { body });
    await this.report(`${printable(args.file)} is script ${script_id} of ${of}`, { script_id });
  }
}
