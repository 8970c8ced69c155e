import { BaseCommand } from "../cli/base-command.ts";
import { exitCodes } from "../cli/exit-codes.ts";

const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) => ({ code, name, meaning }));

export default class ExitCodes extends BaseCommand {
  static override summary = "What the exit codes mean.";
  static override description = "As `svc help exit-codes`, in any format.";
  static override examples = ["<%= config.bin %> <%= command.id %> -o csv"];

  async run() {
    await this.parse(ExitCodes);
    await this.printList(rows, { columns: [{ key: "code" }, { key: "name" }, { key: "meaning" }] });
  }
}
