import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { uploadSource } from "../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { findScript, scriptArg, scriptTeamFlag } from "../../cli/topics/scripts/scripts.ts";
import { printable } from "../../text/printable.ts";

export default class ScriptsUpdate extends ClientCommand {
  static override summary = "Replace the contents of a saved script, which keeps its name.";
  static override endpoints = [scriptsApi.update];
  static override args = { script: scriptArg, file: args.required("file with the new contents") };
  static override flags = { ...scriptTeamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> tidy.sh cleanup-2.sh"];

  async run() {
    const { args, flags } = await this.parse(ScriptsUpdate);
    const { id, name } = await findScript(this, args.script, flags.team);
    const script = await uploadSource(this.io, args.file, "FILE");
    if (flags["dry-run"]) this.trying(`replace ${printable(name)} by ${printable(args.file)}`, { id });
    await this.call(scriptsApi.update, { params: { id }, body: { script } });
    await this.report(`${printable(name)} has the contents of ${printable(args.file)}`, { id });
  }
}
