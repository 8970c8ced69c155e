import { fullPath } from "../../../api/paths.ts";
import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwarePackagesLink extends ClientCommand {
  static override summary = "Create a path at which the package of a software title can be downloaded once.";
  static override description = "It needs no token, and is valid for ten minutes.";
  static override endpoints = [packagesApi.token];
  static override args = { title: titleArg };
  static override flags = { ...packageTeamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> tool --team Workstations"];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesLink);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const params = { id };
    if (flags["dry-run"]) this.trying(`create a path for the package of software title ${printable(args.title)}`, {});
    const { token } = await this.call(packagesApi.token, { params, query: { team_id, alt: "media" } });
    const path = fullPath(packagesApi.downloadByToken, "latest").replace(":id", String(id)).replace(":token", token);
    await this.report(`${path}?alt=media`, { token, path: `${path}?alt=media` });
  }
}
