import { BaseCommand } from "../../cli/base-command.ts";
import { notFound } from "../../cli/errors.ts";
import { args } from "../../cli/flags.ts";
import { removeAlias } from "../../cli/run/aliases.ts";

export default class AliasRemove extends BaseCommand {
  static override summary = "Remove an alias.";
  static override args = { name: args.required("name of the alias") };
  static override examples = ["<%= config.bin %> <%= command.id %> gone"];

  async run() {
    const { args: input } = await this.parse(AliasRemove);
    if (!(await removeAlias(this.io.env, input.name)))
      throw notFound(`there is no alias ${input.name}`, "`svc alias list` shows them.");
    await this.report(`removed the alias ${input.name}`, { name: input.name, removed: true });
  }
}
