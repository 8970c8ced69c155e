import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwarePackagesDelete extends ClientCommand {
  static override summary = "Stop offering a software title to a team, or to hosts without one.";
  static override description = "Hosts keep what they have installed.";
  static override destructive = true;
  static override endpoints = [packagesApi.delete];
  static override args = { title: titleArg };
  static override flags = { ...packageTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --team Workstations --yes"];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesDelete);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const what = `the package of software title ${printable(args.title)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { team_id });
    await this.confirm(`Delete ${what}?`);
    await this.call(packagesApi.delete, { params: { id }, query: { team_id } });
    await this.report(`deleted ${what}`, { team_id, deleted: true });
  }
}
