import { titleIconsApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareIconsDelete extends ClientCommand {
  static override summary = "Remove the icon that a team has set for a software title.";
  static override destructive = true;
  static override endpoints = [titleIconsApi.delete];
  static override args = { title: titleArg };
  static override flags = { ...packageTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --team Workstations --yes"];

  async run() {
    const { args, flags } = await this.parse(SoftwareIconsDelete);
    const query = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(query.team_id ?? 0));
    const what = `the icon of software title ${printable(args.title)}`;
    if (flags["dry-run"]) this.trying(`remove ${what}`, query);
    await this.confirm(`Remove ${what}?`);
    await this.call(titleIconsApi.delete, { params: { id }, query });
    await this.report(`removed ${what}`, { title: id, deleted: true });
  }
}
