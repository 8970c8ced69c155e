import * as Args from "@oclif/core/args";
import { BaseCommand } from "../../cli/base-command.ts";
import { blobsFlag, blobsOf, dataDirOf, placeFlags, placeOf } from "../../cli/data-places.ts";
import { backupData } from "../../server/data-tools.ts";
import { plural } from "../../text/plural.ts";

export default class DbBackup extends BaseCommand {
  static override summary = "Back up everything that is stored to one file.";
  static override description =
    "The file contains all rows and all uploaded files, from the data directory or the bucket. Secrets stay encrypted: store a copy of the server key (server.key in the data directory, or SVC_SERVER_PRIVATE_KEY) separately, because a restore needs both. A backup can be made while servers run, with the embedded store too: the file is a consistent snapshot.";
  static override examples = ["<%= config.bin %> <%= command.id %> svc-backup.gz --data-dir ./data"];
  static override args = { file: Args.string({ required: true, description: "file to write" }) };
  static override flags = { ...placeFlags, ...blobsFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(DbBackup);
    const where = {
      place: placeOf(this, flags),
      dataDir: dataDirOf(this, flags),
      blobs: blobsOf(this, flags),
      env: this.io.env,
    };
    const progress = this.progress("reading ...");
    const backup = await backupData(where, args.file, ({ table, rows, total }) =>
      progress.update(`${table}: ${rows}/${total}`),
    ).finally(() => progress.done());
    await this.report(`${args.file}: ${plural(backup.rows, "row")}, ${plural(backup.blobs, "blob")}`, {
      file: args.file,
      ...backup,
    });
  }
}
