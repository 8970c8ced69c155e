import * as Flags from "@oclif/core/flags";
import { activitiesApi } from "../../api/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { plural, printable } from "../../cli/text.ts";
import { toWholeFile } from "../../cli/whole-file.ts";

export default class ActivitiesExport extends ClientCommand {
  static override summary = "Export activities to a file, the oldest first.";
  static override description =
    "The file comes whole or not at all: an export that breaks off leaves nothing behind. With --format csv, an apostrophe comes first in " +
    "cells that a spreadsheet would take for formulas.";
  static override endpoints = [activitiesApi.export];
  // -o is the file to write, and its format is given.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout, the default.",
      helpValue: "FILE",
      default: "-",
    }),
    ...queryFlags(activitiesApi.export),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --activity-type deleted_host,created_team",
    "<%= config.bin %> <%= command.id %> --format csv --start-created-at 2026-01-01 -o -",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesExport);
    const { out } = flags as { out: string };
    const query = queryOf(activitiesApi.export, flags);
    await this.requireToken();
    const client = await this.client();
    const { body } = await client.open(activitiesApi.export, { query }, { signal: this.stop.signal });
    if (out === "-") {
      for await (const bytes of body) await this.write(bytes);
      return;
    }
    const size = await toWholeFile(out, body);
    this.note(`${plural(size, "byte")} in ${printable(out)}`);
  }

  readonly #decoder = new TextDecoder();

  private async write(bytes: Uint8Array): Promise<void> {
    if (this.io.outBytes) await this.io.outBytes(bytes);
    else this.io.out(this.#decoder.decode(bytes, { stream: true }));
  }
}
