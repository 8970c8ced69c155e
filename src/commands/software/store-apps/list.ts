import { storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";
import { licensedAppView } from "../../../cli/topics/software/store-app.ts";

export default class SoftwareStoreAppsList extends ClientCommand {
  static override summary = "List the licensed store apps that a team does not offer yet.";
  static override endpoints = [storeAppsApi.list];
  static override flags = { ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(SoftwareStoreAppsList);
    const query = { team_id: 0, ...(await this.teamFilter(flags.team)) };
    const { app_store_apps: rows } = await this.call(storeAppsApi.list, { query });
    await this.printList(rows, licensedAppView);
  }
}
