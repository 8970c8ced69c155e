import { selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { categoryArg, categoryTeamFlag, findCategory } from "../../../cli/topics/software/categories.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareCategoriesDelete extends ClientCommand {
  static override summary = "Delete a category of self-service. Its software is still offered.";
  static override destructive = true;
  static override endpoints = [selfServiceCategoriesApi.delete, selfServiceCategoriesApi.list];
  static override args = { category: categoryArg };
  static override flags = { ...categoryTeamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Browsers --yes"];

  async run() {
    const { args, flags } = await this.parse(SoftwareCategoriesDelete);
    const { id, name } = await findCategory(this, args.category, flags.team);
    const what = `the category ${printable(name)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name });
    await this.confirm(`Delete ${what}?`);
    await this.call(selfServiceCategoriesApi.delete, { params: { id } });
    await this.report(`deleted ${what}`, { id, name });
  }
}
