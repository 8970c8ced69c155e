import * as Args from "@oclif/core/args";
import { DataCommand, placeFlags } from "../../cli/data-command.ts";
import { backupData } from "../../server/data-tools.ts";

export default class DbBackup extends DataCommand {
  static override summary = "Write everything stored into one file.";
  static override description =
    "Secrets stay sealed: keep the server key (server.key in the data directory, or SVC_SERVER_PRIVATE_KEY) apart from it. On Postgres beside running servers; the embedded store must not be in use.";
  static override examples = ["<%= config.bin %> <%= command.id %> svc-backup.gz --data-dir ./data"];
  static override args = { file: Args.string({ required: true, description: "file to write" }) };
  static override flags = { ...placeFlags };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DbBackup);
    const where = { place: this.place(flags), dataDir: this.dataDir(flags), env: this.io.env };
    const progress = this.progress("reading ...");
    const made = await backupData(where, args.file, ({ table, rows, total }) =>
      progress.update(`${table}: ${rows}/${total}`),
    ).finally(() => progress.done());
    await this.report(`${args.file}: ${made.rows} rows, ${made.blobs} blobs`, { file: args.file, ...made });
  }
}
