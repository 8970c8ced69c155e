import { setupAssistantsApi } from "../../../api/devices/setup-assistants.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, ofTeam, teamFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmEnrollmentProfileDelete extends ClientCommand {
  static override summary = "Delete the setup assistant profile of a team, which then uses the default.";
  static override destructive = true;
  static override endpoints = [setupAssistantsApi.delete];
  static override flags = { ...teamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations --yes"];

  async run() {
    const { flags } = await this.parse(MdmEnrollmentProfileDelete);
    const query = await this.teamFilter(flags.team);
    const what = `the setup assistant profile of ${ofTeam(flags.team)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, query);
    await this.confirm(`Delete ${what}?`);
    await this.call(setupAssistantsApi.delete, { query });
    await this.report(`deleted ${what}`, { ...query, deleted: true });
  }
}
