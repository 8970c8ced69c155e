import { setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, ofTeam, teamFlag, yesFlag } from "../../../cli/flags.ts";

export default class SetupExperienceScriptDelete extends ClientCommand {
  static override summary = "Delete the script that the hosts of a team run at the end of their setup.";
  static override destructive = true;
  static override endpoints = [setupExperienceApi.deleteScript];
  static override flags = { ...teamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations --yes"];

  async run() {
    const { flags } = await this.parse(SetupExperienceScriptDelete);
    const query = await this.teamFilter(flags.team);
    const of = ofTeam(flags.team);
    const what = `the setup script of ${of}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, query);
    await this.confirm(`Delete ${what}?`);
    await this.call(setupExperienceApi.deleteScript, { query });
    await this.report(`deleted ${what}`, { ...query, deleted: true });
  }
}
