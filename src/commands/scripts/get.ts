import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { findScript, scriptArg, scriptTeamFlag, scriptView } from "../../cli/topics/scripts/scripts.ts";

export default class ScriptsGet extends ClientCommand {
  static override summary = "Show a saved script.";
  static override endpoints = [scriptsApi.get];
  static override args = { script: scriptArg };
  static override flags = { ...scriptTeamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args, flags } = await this.parse(ScriptsGet);
    await this.printOne(await findScript(this, args.script, flags.team), scriptView);
  }
}
