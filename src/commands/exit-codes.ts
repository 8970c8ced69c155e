import { BaseCommand } from "../cli/base-command.ts";
import { exitCodes } from "../cli/exit-codes.ts";

const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) => ({ code, name, meaning }));

export default class ExitCodes extends BaseCommand {
  static override summary = "Meaning of the exit codes.";
  static override description = "The same as `svc help exit-codes`, in any output format.";
  static override examples = ["<%= config.bin %> <%= command.id %> -o csv"];

  async run() {
    await this.parse(ExitCodes);
    await this.printList(rows, { columns: [{ key: "code" }, { key: "name" }, { key: "meaning" }] });
  }
}
