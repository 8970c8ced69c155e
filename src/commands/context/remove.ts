import { removeContext } from "../../cli/auth/contexts.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { clearCompletion } from "../../cli/completion/cache.ts";
import { args, yesFlag } from "../../cli/flags.ts";

export default class ContextRemove extends BaseCommand {
  static override summary =
    "Delete a context and its token. The session on the server stays valid; `svc logout` ends it.";
  static override destructive = true;
  static override args = { context: args.context };
  static override flags = { ...yesFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> staging --yes"];

  async run() {
    const { args } = await this.parse(ContextRemove);
    await this.confirm(`Delete context ${args.context} and its token?`);
    await removeContext(this.io, args.context);
    await clearCompletion(this.io.env);
    await this.report(`deleted context ${args.context}`, { name: args.context, deleted: true });
  }
}
