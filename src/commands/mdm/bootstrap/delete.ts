import { bootstrapApi } from "../../../api/devices/bootstrap.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, ofTeam, teamFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmBootstrapDelete extends ClientCommand {
  static override summary = "Delete the bootstrap package of a team, or of hosts without one.";
  static override description = "Macs that have installed it keep it.";
  static override destructive = true;
  static override endpoints = [bootstrapApi.delete];
  static override flags = { ...teamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations --yes"];

  async run() {
    const { flags } = await this.parse(MdmBootstrapDelete);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const of = ofTeam(flags.team);
    const what = `the bootstrap package of ${of}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { team_id });
    await this.confirm(`Delete ${what}?`);
    await this.call(bootstrapApi.delete, { params: { team_id } });
    await this.report(`deleted ${what}`, { team_id, deleted: true });
  }
}
