import { catalogueApi } from "../../../api/software/catalogue.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { catalogueView } from "../../../cli/topics/software/catalogue.ts";

export default class SoftwareCatalogueList extends ClientCommand {
  static override summary = "List the catalogue of maintained apps.";
  static override description =
    "The catalogue is the one that the server's setting catalogue_url points to; without it, the list is empty.";
  static override endpoints = [catalogueApi.list];
  static override flags = { ...queryFlags(catalogueApi.list), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --query firefox",
    "<%= config.bin %> <%= command.id %> --platform windows -o csv",
  ];

  async run() {
    const { flags } = await this.parse(SoftwareCatalogueList);
    const query = queryOf(catalogueApi.list, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(catalogueApi.list, { query }, "svc_maintained_apps"), catalogueView);
  }
}
