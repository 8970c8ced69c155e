import * as Args from "@oclif/core/args";
import { DataCommand, placeFlags } from "../../cli/data-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { checkRestore, restoreData } from "../../server/data-tools.ts";

export default class DbRestore extends DataCommand {
  static override summary = "Fill an empty store from a backup.";
  static override description =
    "The backup is read whole and checked before anything is written; what is restored is compared with it. Needs the server key that the backup was made with.";
  static override examples = ["<%= config.bin %> <%= command.id %> svc-backup.gz --data-dir ./restored"];
  static override args = { file: Args.string({ required: true, description: "file made by db backup" }) };
  static override flags = { ...placeFlags, ...dryRunFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DbRestore);
    const where = { place: this.place(flags), dataDir: this.dataDir(flags), env: this.io.env };
    if (flags["dry-run"]) {
      const found = await checkRestore(where, args.file);
      return this.report(`would restore ${found.rows} rows of ${found.created_at}: the backup is sound`, found);
    }
    const progress = this.progress("checking the backup ...");
    const made = await restoreData(where, args.file, ({ table, rows }) => progress.update(`${table}: ${rows}`)).finally(
      () => progress.done(),
    );
    await this.report(`restored ${made.rows} rows and ${made.blobs} blobs of ${made.created_at}`, made);
  }
}
