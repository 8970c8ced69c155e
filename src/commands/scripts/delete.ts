import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { findScript, scriptArg, scriptTeamFlag } from "../../cli/topics/scripts/scripts.ts";
import { printable } from "../../text/printable.ts";

export default class ScriptsDelete extends ClientCommand {
  static override summary = "Delete a saved script.";
  static override destructive = true;
  static override endpoints = [scriptsApi.delete];
  static override args = { script: scriptArg };
  static override flags = { ...scriptTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> tidy.sh --yes"];

  async run() {
    const { args, flags } = await this.parse(ScriptsDelete);
    const { id, name } = await findScript(this, args.script, flags.team);
    const what = `the script ${printable(name)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id });
    await this.confirm(`Delete ${what}?`);
    await this.call(scriptsApi.delete, { params: { id } });
    await this.report(`deleted ${what}`, { id });
  }
}
