import { join } from "node:path";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { dataDirOf, namedPlace } from "../../cli/data-places.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { isUrl } from "../../server/data-places.ts";
import { checkBlobCopy, checkCopy, copyData, copyOnlyBlobs } from "../../server/data-tools.ts";
import { plural } from "../../text/plural.ts";

export default class DbCopy extends BaseCommand {
  static override summary = "Copy everything that is stored to an empty store, and verify the copy.";
  static override description =
    "Source and target are a data directory or a postgres:// URL. Counts and checksums of every table are compared afterwards. Uploaded files are " +
    "copied too, and each copy is read back and compared: from the folder blobs of the source's data directory to that of the target, or between the " +
    "folders and buckets that --from-blobs and --to-blobs name. To a database without --to-blobs they stay where they are. With only --from-blobs and " +
    "--to-blobs, files alone are copied; such a copy can be repeated. The server key stays in the data directory: run the server with the same --data-dir.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --from ./data --to postgres://svc@db/svc",
    "<%= config.bin %> <%= command.id %> --from-blobs ./data/blobs --to-blobs 's3://bucket/svc?endpoint=https://s3.example.com'",
  ];
  static override flags = {
    from: Flags.string({ summary: "The store to read.", helpValue: "DIR|URL", dependsOn: ["to"] }),
    to: Flags.string({ summary: "The store to write; must be empty.", helpValue: "DIR|URL", dependsOn: ["from"] }),
    "from-blobs": Flags.string({
      summary: "Folder or s3:// URL to read uploaded files from.",
      helpValue: "DIR|URL",
      dependsOn: ["to-blobs"],
    }),
    "to-blobs": Flags.string({ summary: "Folder or s3:// URL to write uploaded files to.", helpValue: "DIR|URL" }),
    "data-dir": Flags.string({
      summary: "Directory of the server key, if --from is a database. Env: SVC_DATA_DIR.",
      helpValue: "DIR",
    }),
    ...dryRunFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbCopy);
    const { from: fromStore, to: toStore, "from-blobs": fromBlobs, "to-blobs": toBlobs } = flags;
    if (fromStore === undefined || toStore === undefined) {
      if (fromBlobs === undefined || toBlobs === undefined)
        throw usage("nothing is named that is to be copied", "Give --from and --to, or --from-blobs and --to-blobs.");
      return this.#copyFiles(fromBlobs, toBlobs, flags["dry-run"]);
    }
    const dataDir = dataDirOf(this, flags);
    const folderOf = (place: string) => join(isUrl(place) ? dataDir : place, "blobs");
    const source = fromBlobs ?? folderOf(fromStore);
    const target = toBlobs ?? (isUrl(toStore) ? source : folderOf(toStore));
    const from = { place: fromStore, blobs: source, dataDir, env: this.io.env };
    const to = { place: toStore, blobs: target, dataDir, env: this.io.env };
    if (flags["dry-run"]) {
      const { tables, problems, blobs } = await checkCopy(from, to);
      const rows = tables.reduce((sum, table) => sum + table.rows, 0);
      for (const problem of problems) this.note(problem);
      if (problems.length > 0)
        throw new CliError("failed", `${namedPlace(fromStore)} has ${plural(problems.length, "problem")}`);
      const files = blobs === 0 ? "" : ` and ${plural(blobs, "file")}`;
      return this.report(`would copy ${plural(rows, "row")} in ${plural(tables.length, "table")}${files}`, {
        rows,
        tables: tables.length,
        blobs,
      });
    }
    const progress = this.progress("reading ...");
    const copied = await copyData(
      from,
      to,
      ({ table, rows, total, phase }) => progress.update(`${phase} ${table}: ${rows}/${total}`),
      ({ key, blobs }) => progress.update(`file ${blobs + 1}: ${key}`),
    ).finally(() => progress.done());
    const files = copied.blobs === 0 ? "" : `, and ${plural(copied.blobs, "file")}`;
    const start = `svc serve ${isUrl(toStore) ? "--database-url" : "--data-dir"} ${namedPlace(toStore)}`;
    const bucket = isBucket(target) ? ` --blobs-url '${target}'` : "";
    await this.report(
      `${plural(copied.rows, "row")} in ${plural(copied.tables, "table")} copied and verified${files}; start the server with: ${start}${bucket}`,
      copied,
    );
  }

  async #copyFiles(from: string, to: string, isTrial: boolean): Promise<void> {
    if (isTrial) {
      const blobs = await checkBlobCopy(from, this.io.env);
      return this.report(`would copy ${plural(blobs, "file")}`, { blobs });
    }
    const progress = this.progress("reading ...");
    const copied = await copyOnlyBlobs(from, to, this.io.env, ({ key, blobs }) =>
      progress.update(`file ${blobs + 1}: ${key}`),
    ).finally(() => progress.done());
    const present = copied.present === 0 ? "" : `, ${copied.present} were there already`;
    await this.report(`${plural(copied.blobs, "file")} copied and verified${present}`, copied);
  }
}

const isBucket = (place: string): boolean => place.startsWith("s3://");
