import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ScriptsCommand, scriptArg, scriptTeamFlag, scriptView } from "../../cli/features/scripts/scripts.ts";

export default class ScriptsGet extends ScriptsCommand {
  static override summary = "Show a saved script.";
  static override endpoints = [scriptsApi.get];
  static override args = { script: scriptArg };
  static override flags = { ...scriptTeamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args, flags } = await this.parse(ScriptsGet);
    await this.printOne(await this.script(args.script, flags.team), scriptView);
  }
}
