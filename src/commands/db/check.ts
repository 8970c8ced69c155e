import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { dataDirOf, namedPlace, placeFlags, placeOf } from "../../cli/data-places.ts";
import { CliError } from "../../cli/errors.ts";
import { checkData } from "../../server/data-tools.ts";
import { plural } from "../../text/plural.ts";

const rowsOf = (tables: readonly { readonly rows: number }[]): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0);

export default class DbCheck extends BaseCommand {
  static override summary = "Check the integrity of everything that is stored.";
  static override description =
    "Reads every row and checks that values are valid, secrets can be decrypted, references resolve, and the chain of activities is intact. The embedded store must not be in use by a server.";
  static override examples = ["<%= config.bin %> <%= command.id %> --data-dir ./data"];
  static override flags = {
    ...placeFlags,
    verbose: Flags.boolean({ summary: "Print the rows and the checksum of each table; -o prints them, too." }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbCheck);
    const place = placeOf(this, flags);
    const progress = this.progress("checking ...");
    const { tables, problems } = await checkData({ place, dataDir: dataDirOf(this, flags), env: this.io.env }, (name) =>
      progress.update(`checking ${name} ...`),
    ).finally(() => progress.done());
    if (flags.verbose || this.structured || this.common.fields !== undefined)
      await this.printList(tables, { columns: [{ key: "name" }, { key: "rows" }, { key: "sha256" }] });
    if (problems.length === 0)
      this.note(
        `${namedPlace(place)}: no problems found in ${plural(tables.length, "table")} with ${plural(rowsOf(tables), "row")}`,
      );
    else
      throw new CliError(
        "failed",
        `${plural(problems.length, "problem")}:\n${problems.join("\n")}`,
        "Restore a backup: svc db restore FILE",
      );
  }
}
