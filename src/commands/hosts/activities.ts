import { hostActivitiesApi } from "../../api/hosts/host-activities.ts";
import { Activity } from "../../api/platform/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { details, who } from "../../cli/topics/activities/view.ts";

export default class HostsActivities extends ClientCommand {
  static override summary = "List the activities of a host, newest first.";
  static override endpoints = [hostActivitiesApi.list];
  static override args = { host: args.host };
  static override flags = { ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --limit 20"];

  async run() {
    const { args } = await this.parse(HostsActivities);
    const { id } = await this.host(args.host);
    const activities = this.pages(hostActivitiesApi.list, { params: { id } }, "activities");
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
