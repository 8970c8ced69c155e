import { SetupScript, setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { failed } from "../../../cli/errors.ts";
import { teamFlag } from "../../../cli/flags.ts";

export default class SetupExperienceScriptGet extends ClientCommand {
  static override summary = "Show the script that the hosts of a team run at the end of their setup.";
  static override endpoints = [setupExperienceApi.script];
  static override flags = teamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(SetupExperienceScriptGet);
    const script = await this.call(setupExperienceApi.script, { query: await this.teamFilter(flags.team) });
    if (!("id" in script)) throw failed("the server has sent a file instead of a description");
    await this.printOne(script, { schema: () => SetupScript });
  }
}
