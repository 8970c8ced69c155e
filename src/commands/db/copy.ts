import * as Flags from "@oclif/core/flags";
import { DataCommand } from "../../cli/data-command.ts";
import { CliError } from "../../cli/errors.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { checkCopy, copyData } from "../../server/data/tools.ts";

export default class DbCopy extends DataCommand {
  static override summary = "Copy everything that is stored to an empty store, and verify the copy.";
  static override description =
    "Source and target are a data directory or a postgres:// URL. Counts and checksums of every table are compared afterwards. Blobs and the server key stay in the data directory: run the server with the same --data-dir.";
  static override examples = ["<%= config.bin %> <%= command.id %> --from ./data --to postgres://svc@db/svc"];
  static override flags = {
    from: Flags.string({ required: true, summary: "The store to read.", helpValue: "DIR|URL" }),
    to: Flags.string({ required: true, summary: "The store to write; must be empty.", helpValue: "DIR|URL" }),
    "data-dir": Flags.string({
      summary: "Directory of the server key, if --from is a database. Env: SVC_DATA_DIR.",
      helpValue: "DIR",
    }),
    ...dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbCopy);
    const rest = { dataDir: this.dataDir(flags), env: this.io.env };
    const from = { place: flags.from, ...rest };
    const to = { place: flags.to, ...rest };
    if (flags["dry-run"]) {
      const { tables, problems } = await checkCopy(from, to);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      for (const problem of problems) this.note(problem);
      if (problems.length > 0)
        throw new CliError("failed", `${this.named(flags.from)} has ${problems.length} problems`);
      return this.report(`would copy ${rows} rows in ${tables.length} tables`, { rows, tables: tables.length });
    }
    const progress = this.progress("reading ...");
    const made = await copyData(from, to, ({ table, rows, total, phase }) =>
      progress.update(`${phase} ${table}: ${rows}/${total}`),
    ).finally(() => progress.done());
    await this.report(
      `${made.rows} rows in ${made.tables} tables copied and verified; start the server with: svc serve ${flags.to.startsWith("postgres") ? "--database-url" : "--data-dir"} ${this.named(flags.to)}`,
      made,
    );
  }
}
