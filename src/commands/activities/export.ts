import { activitiesApi } from "../../api/platform/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { outFlag, saveExport } from "../../cli/export.ts";
import { connectionFlags, generalFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { activityTimes } from "../../cli/topics/activities/times.ts";

export default class ActivitiesExport extends ClientCommand {
  // -o is the output file here, and the format is fixed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override summary = "Export activities to a file, oldest first.";
  static override description =
    "The file is complete, or it is not written: an interrupted export leaves nothing behind. With --format csv, cells that a spreadsheet would run " +
    "as a formula begin with an apostrophe.";
  static override endpoints = [activitiesApi.export];
  static override flags = {
    ...outFlag,
    ...queryFlags(activitiesApi.export),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --activity-type deleted_host,created_team",
    "<%= config.bin %> <%= command.id %> --format csv --start-created-at 2026-01-01 -o -",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesExport);
    const { out } = flags as { out: string };
    const times = activityTimes(flags, this.io.now());
    const query = queryOf(activitiesApi.export, times, await this.teamFilter(flags.team));
    await this.requireToken();
    const client = await this.client();
    const { body } = await client.open(activitiesApi.export, { query }, { signal: this.stop.signal });
    await saveExport(this, body, out);
  }
}
