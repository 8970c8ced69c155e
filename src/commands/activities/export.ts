import { activitiesApi } from "../../api/activities.ts";
import { ExportCommand, outFlag } from "../../cli/export-command.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class ActivitiesExport extends ExportCommand {
  static override summary = "Export activities to a file, the oldest first.";
  static override description =
    "The file comes whole or not at all: an export that breaks off leaves nothing behind. With --format csv, an apostrophe comes first in " +
    "cells that a spreadsheet would take for formulas.";
  static override endpoints = [activitiesApi.export];
  static override flags = {
    ...outFlag,
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
    await this.save(body, out);
  }
}
