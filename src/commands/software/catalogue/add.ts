import { catalogueApi } from "../../../api/software/catalogue.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, ofTeam } from "../../../cli/flags.ts";
import { packageBody, packageFlags, packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { printable } from "../../../text/printable.ts";

// The catalogue decides the categories.
const { categories: _, ...flagsOfApps } = packageFlags;

export default class SoftwareCatalogueAdd extends ClientCommand {
  static override summary = "Offer a maintained app to the hosts of a team.";
  static override description =
    "The server downloads the installer first, and checks its digest. Scripts are those of the catalogue, unless you give " +
    "others. The package then follows the catalogue; see `svc software catalogue pin`.";
  static override endpoints = [catalogueApi.add];
  static override args = { id: args.required("id of the app in the catalogue") };
  static override flags = { ...packageTeamFlag, ...flagsOfApps, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --team Workstations --self-service"];

  async run() {
    const { args, flags } = await this.parse(SoftwareCatalogueAdd);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const fields = await packageBody(this.io, flags);
    const body = { svc_maintained_app_id: Number(args.id), team_id, ...fields };
    const whom = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`offer app ${printable(args.id)} to ${whom}`, body);
    const added = await this.call(catalogueApi.add, { body });
    await this.report(`${whom} can install app ${args.id} (title ${added.software_title_id})`, added);
  }
}
