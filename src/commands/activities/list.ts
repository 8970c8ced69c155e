import { Activity, activitiesApi } from "../../api/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/host-view.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { cell } from "../../cli/text.ts";

/** The details as a line of words; the other formats give the object. */
const told = (details: unknown): string =>
  typeof details !== "object" || details === null
    ? ""
    : Object.entries(details)
        .filter(([, value]) => value !== null && value !== "")
        .map(([key, value]) => `${key}=${cell(value)}`)
        .join(" ");

export default class ActivitiesList extends ClientCommand {
  static override summary = "List what was done, by whom, the newest first.";
  static override endpoints = [activitiesApi.list];
  static override flags = { ...queryFlags(activitiesApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --limit 20",
    "<%= config.bin %> <%= command.id %> --activity-type created_user --start-created-at 2026-01-01T00:00:00Z -o csv",
  ];

  async run() {
    const { flags } = await this.parse(ActivitiesList);
    const newestFirst = { "order-key": "created_at", "order-direction": "desc" };
    const query = queryOf(activitiesApi.list, flags["order-key"] === undefined ? { ...newestFirst, ...flags } : flags);
    const activities = await this.rows(activitiesApi.list, { query }, "activities");
    await this.printList(activities, {
      schema: Activity,
      columns: [
        { key: "id" },
        timeColumn("created_at", "when", this.relativeTimes, this.io.now()),
        { key: "actor_full_name", header: "who", text: (name) => (typeof name === "string" ? name : "(svc)") },
        { key: "type", header: "what" },
        { key: "details", text: told },
      ],
    });
  }
}
