import { CatalogueAppDetails, catalogueApi } from "../../../api/software/catalogue.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, teamFlag } from "../../../cli/flags.ts";
import { catalogueColumns } from "../../../cli/topics/software/catalogue.ts";

export default class SoftwareCatalogueGet extends ClientCommand {
  static override summary = "Show a maintained app, with the installer and the scripts of its newest version.";
  static override endpoints = [catalogueApi.get];
  static override args = { id: args.required("id of the app in the catalogue") };
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1",
    "<%= config.bin %> <%= command.id %> 1 -o json --jq .install_script",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwareCatalogueGet);
    const query = await this.teamFilter(flags.team);
    const { svc_maintained_app: app } = await this.call(catalogueApi.get, { params: { id: args.id }, query });
    await this.printOne(app, {
      schema: () => CatalogueAppDetails,
      columns: [
        ...catalogueColumns,
        { key: "filename", header: "file" },
        { key: "url" },
        { key: "categories" },
        { key: "automatic_install_query", header: "installed if" },
      ],
    });
  }
}
