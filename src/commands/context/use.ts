import { useContext } from "../../cli/auth/contexts.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { args } from "../../cli/flags.ts";

export default class ContextUse extends BaseCommand {
  static override summary = "Make a context the current one.";
  static override args = { context: args.context };
  static override examples = ["<%= config.bin %> <%= command.id %> staging"];

  async run() {
    const { args } = await this.parse(ContextUse);
    await useContext(this.io, args.context);
    await this.report(`${args.context} is the current context`, { current: args.context });
  }
}
