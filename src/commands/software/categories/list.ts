import { selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { categoryTeamFlag, categoryView, teamIdOf } from "../../../cli/topics/software/categories.ts";

export default class SoftwareCategoriesList extends ClientCommand {
  static override summary = "List the categories in which users of a team's hosts find software.";
  static override endpoints = [selfServiceCategoriesApi.list];
  static override flags = { ...queryFlags(selfServiceCategoriesApi.list), ...categoryTeamFlag, ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(SoftwareCategoriesList);
    const team_id = await teamIdOf(this, flags.team);
    const query = queryOf(selfServiceCategoriesApi.list, flags, { team_id });
    const rows = this.pages(selfServiceCategoriesApi.list, { query }, "self_service_categories");
    await this.printList(rows, categoryView);
  }
}
