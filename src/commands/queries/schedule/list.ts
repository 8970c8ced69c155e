import { scheduleApi } from "../../../api/checks/schedule.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";
import { entryView } from "../../../cli/topics/queries/saved-query.ts";

export default class QueriesScheduleList extends ClientCommand {
  static override summary = "List the global schedule, or a team's.";
  static override endpoints = [scheduleApi.list, scheduleApi.teamList];
  static override flags = { ...queryFlags(scheduleApi.list), ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(QueriesScheduleList);
    const query = queryOf(scheduleApi.list, flags);
    if (flags.team === undefined) {
      const { global_schedule } = await this.call(scheduleApi.list, { query });
      return this.printList(global_schedule, entryView);
    }
    const { id } = await this.team(flags.team);
    const { scheduled } = await this.call(scheduleApi.teamList, { params: { id }, query });
    await this.printList(scheduled, entryView);
  }
}
