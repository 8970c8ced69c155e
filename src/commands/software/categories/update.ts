import * as Flags from "@oclif/core/flags";
import { selfServiceCategoriesApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { categoryArg, categoryTeamFlag, findCategory } from "../../../cli/topics/software/categories.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareCategoriesUpdate extends ClientCommand {
  static override summary = "Rename a category of self-service. Software stays in it.";
  static override endpoints = [selfServiceCategoriesApi.update, selfServiceCategoriesApi.list];
  static override args = { category: categoryArg };
  static override flags = {
    name: Flags.string({ summary: "New name of the category." }),
    ...categoryTeamFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ['<%= config.bin %> <%= command.id %> Browsers --name "Web browsers"'];

  async run() {
    const { args, flags } = await this.parse(SoftwareCategoriesUpdate);
    const before = await findCategory(this, args.category, flags.team);
    const input = await readBody(this.io, flags.input);
    const name = String(flags.name ?? input.name ?? (await this.askText("New name", "--name")));
    const what = `the category ${printable(before.name)}`;
    if (flags["dry-run"]) this.trying(`rename ${what} to ${printable(name)}`, { id: before.id, name });
    const { self_service_category: changed } = await this.call(selfServiceCategoriesApi.update, {
      params: { id: before.id },
      body: { ...input, name },
    });
    await this.report(`renamed ${what} to ${printable(changed.name)}`, changed);
  }
}
