import { listContexts } from "../../cli/auth/contexts.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { contextRow, contextView } from "../../cli/topics/contexts.ts";

export default class ContextList extends BaseCommand {
  static override summary = "List the saved servers and sign-ins.";
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(ContextList);
    const { current, contexts } = await listContexts(this.io);
    const rows = [...contexts].map(([name, context]) => contextRow(name, context, current));
    await this.printList(rows, contextView, "there is no context yet: `svc login` saves one");
  }
}
