import { scheduleApi } from "../../../api/checks/schedule.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, teamFlag, yesFlag } from "../../../cli/flags.ts";

export default class QueriesScheduleDelete extends ClientCommand {
  static override summary = "Delete an entry of the global schedule or of a team's schedule, with its query.";
  static override destructive = true;
  static override description = "`svc queries update --interval 0` keeps the query and only ends its schedule.";
  static override endpoints = [scheduleApi.delete, scheduleApi.teamDelete];
  static override args = { query: args.query };
  static override flags = { ...teamFlag, ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users' --yes",
    "<%= config.bin %> <%= command.id %> 'Team users' --team Workstations --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesScheduleDelete);
    const { id, name, team_id } = await this.savedQuery(args.query, flags.team);
    if (flags["dry-run"]) this.trying(`delete query ${name}`, { id, name });
    await this.confirm(`Delete query ${name} of this entry, and its report?`);
    if (team_id === null) await this.call(scheduleApi.delete, { params: { id } });
    else await this.call(scheduleApi.teamDelete, { params: { team_id, scheduled_query_id: id } });
    await this.report(`deleted ${name}`, { id, name, deleted: true });
  }
}
