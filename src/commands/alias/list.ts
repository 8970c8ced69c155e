import { BaseCommand } from "../../cli/base-command.ts";
import { listAliases } from "../../cli/run/aliases.ts";
import { shellWord } from "../../text/shell.ts";

export default class AliasList extends BaseCommand {
  static override summary = "List your aliases.";
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(AliasList);
    const rows = Object.entries(await listAliases(this.io.env)).map(([name, words]) => ({
      name,
      command: words.map(shellWord).join(" "),
    }));
    await this.printList(
      rows.sort((a, b) => a.name.localeCompare(b.name)),
      { columns: ["name", { key: "command", whole: true }] },
      "you have no aliases; `svc alias set` makes one",
    );
  }
}
