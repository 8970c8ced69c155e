import { findContext, listContexts } from "../../cli/auth/contexts.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { notFound } from "../../cli/errors.ts";
import { args } from "../../cli/flags.ts";
import { contextRow } from "../../cli/topics/contexts.ts";

export default class ContextShow extends BaseCommand {
  static override summary = "Show a context: the current one, or the one named.";
  static override args = { context: args.optional("name of the context") };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { args } = await this.parse(ContextShow);
    const { current } = await listContexts(this.io);
    const context = await findContext(this.io, args.context);
    if (!context)
      throw notFound("there is no current context", "`svc login` saves one; `svc context use NAME` selects one.");
    await this.printOne(contextRow(context.name, context.context, current));
  }
}
