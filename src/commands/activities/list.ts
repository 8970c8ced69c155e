import { Activity, activitiesApi } from "../../api/platform/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { activityTimes } from "../../cli/topics/activities/times.ts";
import { details, who } from "../../cli/topics/activities/view.ts";

export default class ActivitiesList extends ClientCommand {
  static override summary = "List what was done and who did it, newest first.";
  static override endpoints = [activitiesApi.list];
  static override flags = { ...queryFlags(activitiesApi.list), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --limit 20",
    "<%= config.bin %> <%= command.id %> --team Workstations --details mac-1",
    "<%= config.bin %> <%= command.id %> --activity-type created_user --start-created-at 2026-01-01T00:00:00Z -o csv",
  ];

  async run() {
    const { flags: parsed } = await this.parse(ActivitiesList);
    const flags = activityTimes(parsed, this.io.now());
    const newestFirst = { "order-key": "created_at", "order-direction": "desc" };
    const ordered = flags["order-key"] === undefined ? { ...newestFirst, ...flags } : flags;
    const query = queryOf(activitiesApi.list, ordered, await this.teamFilter(parsed.team));
    const activities = this.pages(activitiesApi.list, { query }, "activities");
    await this.printList(activities, {
      schema: () => Activity,
      columns: [
        { key: "id" },
        timeColumn("created_at", "when", this.relativeTimes, this.io.now()),
        who,
        { key: "type", header: "what" },
        details,
      ],
    });
  }
}
