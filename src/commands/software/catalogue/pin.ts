import * as Flags from "@oclif/core/flags";
import { Package, packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareCataloguePin extends ClientCommand {
  static override summary = "Keep the package of a maintained app at a version, or let it follow the catalogue again.";
  static override endpoints = [packagesApi.update];
  static override args = { title: titleArg };
  static override flags = {
    ...packageTeamFlag,
    to: Flags.string({
      summary: "Version, such as 147.0.2, or ^147 for the newest that begins with 147.",
      helpValue: "VERSION",
      exclusive: ["latest"],
    }),
    latest: Flags.boolean({ summary: "Follow the newest version again." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --team Workstations --to 1.0",
    "<%= config.bin %> <%= command.id %> 1 --team Workstations --latest",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwareCataloguePin);
    if (flags.to === undefined && !flags.latest) throw usage("no version is given", "Give --to or --latest.");
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const body = { team_id, version: flags.to ?? "" };
    if (flags["dry-run"]) this.trying(`pin the package of title ${printable(args.title)}`, body);
    const { software_installer: changed } = await this.call(packagesApi.update, { params: { id }, body });
    const how = flags.latest ? "follows the catalogue" : `stays at ${printable(flags.to!)}`;
    await this.report(`${printable(changed.name)} ${how}`, changed, { schema: () => Package });
  }
}
