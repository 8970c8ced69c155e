import { Activity, activitiesApi } from "../../api/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/host-view.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";

export default class ActivitiesList extends ClientCommand {
  static override summary = "List what was done, by whom.";
  static override endpoints = [activitiesApi.list];
  static override flags = { ...queryFlags(activitiesApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --order-key created_at --order-direction desc --limit 20",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesList);
    const query = queryOf(activitiesApi.list, flags);
    const activities = await this.rows(activitiesApi.list, { query }, "activities");
    await this.printList(activities, {
      schema: Activity,
      columns: [
        { key: "id" },
        timeColumn("created_at", "when", this.relativeTimes, this.io.now()),
        { key: "actor_full_name", header: "who", text: (name) => (typeof name === "string" ? name : "(svc)") },
        { key: "type", header: "what" },
        { key: "details" },
      ],
    });
  }
}
