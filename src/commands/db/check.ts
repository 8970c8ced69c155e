import { DataCommand, placeFlags } from "../../cli/data-command.ts";
import { CliError } from "../../cli/errors.ts";
import { checkData } from "../../server/data-tools.ts";

export default class DbCheck extends DataCommand {
  static override summary = "Check that everything stored is sound.";
  static override description =
    "Reads every row: values fit, secrets open, references resolve, the chain of activities holds. The embedded store must not be in use by a server.";
  static override examples = ["<%= config.bin %> <%= command.id %> --data-dir ./data"];
  static override flags = { ...placeFlags };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbCheck);
    const place = this.place(flags);
    const progress = this.progress("checking ...");
    const { tables, problems } = await checkData({ place, dataDir: this.dataDir(flags), env: this.io.env }, (name) =>
      progress.update(`checking ${name} ...`),
    ).finally(() => progress.done());
    await this.printList(tables, { columns: [{ key: "name" }, { key: "rows" }, { key: "sha256" }] });
    if (problems.length === 0) this.note(`${this.named(place)}: sound`);
    else
      throw new CliError(
        "failed",
        `${problems.length} problems:\n${problems.join("\n")}`,
        "Restore a backup: svc db restore FILE",
      );
  }
}
