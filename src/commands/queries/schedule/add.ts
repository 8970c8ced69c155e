import { ScheduledEntry, scheduleApi } from "../../../api/checks/schedule.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { args, dryRunFlag, teamFlag } from "../../../cli/flags.ts";
import { entryFields, entryFlags } from "../../../cli/topics/queries/saved-query.ts";

export default class QueriesScheduleAdd extends ClientCommand {
  static override summary = "Schedule a copy of a global query, on all hosts or on those of a team.";
  static override description = "`svc queries update --interval` schedules a query without a copy.";
  static override endpoints = [scheduleApi.create, scheduleApi.teamCreate];
  static override args = { query: args.query };
  static override flags = { ...entryFlags, ...teamFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users' --interval 3600 --snapshot",
    "<%= config.bin %> <%= command.id %> 'Local users' --interval 3600 --shard 10 --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesScheduleAdd);
    if (flags.interval === undefined) throw usage("--interval is required");
    const { id: query_id, name } = await this.savedQuery(args.query);
    const body = { query_id, interval: flags.interval, ...entryFields(flags) };
    const team = flags.team === undefined ? null : await this.team(flags.team);
    if (flags["dry-run"]) {
      this.trying(`schedule a copy of query ${name}`, { query_id, name }, changesOf({}, body));
    }
    const { scheduled } =
      team === null
        ? await this.call(scheduleApi.create, { body })
        : await this.call(scheduleApi.teamCreate, { params: { id: team.id }, body });
    await this.report(`scheduled ${scheduled.name} (${scheduled.id})`, scheduled, { schema: () => ScheduledEntry });
  }
}
