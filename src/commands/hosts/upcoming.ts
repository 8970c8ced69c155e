import { hostActivitiesApi, UpcomingActivity } from "../../api/hosts/host-activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, limitFlags } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { details, who } from "../../cli/topics/activities/view.ts";

export default class HostsUpcoming extends ClientCommand {
  static override summary = "List the upcoming activities of a host, in order.";
  static override endpoints = [hostActivitiesApi.upcoming];
  static override args = { host: args.host };
  static override flags = { ...limitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsUpcoming);
    const { id } = await this.host(args.host);
    const activities = this.pages(hostActivitiesApi.upcoming, { params: { id } }, "activities");
    await this.printList(
      activities,
      {
        schema: () => UpcomingActivity,
        columns: [
          { key: "uuid" },
          timeColumn("created_at", "requested", this.relativeTimes, this.io.now()),
          who,
          { key: "type", header: "what" },
          details,
        ],
      },
      "no upcoming activities",
    );
  }
}
