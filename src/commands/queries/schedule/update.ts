import { scheduleApi } from "../../../api/checks/schedule.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag, teamFlag } from "../../../cli/flags.ts";
import { entryFields, entryFlags } from "../../../cli/topics/queries/saved-query.ts";

export default class QueriesScheduleUpdate extends ClientCommand {
  static override summary = "Change an entry of the global schedule, or of a team's.";
  static override endpoints = [scheduleApi.modify, scheduleApi.teamModify];
  static override args = { query: args.query };
  static override flags = { ...entryFlags, ...teamFlag, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 'Local users' --interval 600",
    "<%= config.bin %> <%= command.id %> 'Team users' --team Workstations --shard 20",
  ];

  async run() {
    const { args, flags } = await this.parse(QueriesScheduleUpdate);
    const body = { ...(await readBody(this.io, flags.input)), ...entryFields(flags) };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const entry = await this.savedQuery(args.query, flags.team);
    const { id, name, interval, platform, team_id } = entry;
    if (flags["dry-run"]) {
      this.trying(`change schedule entry ${name}`, { id, name }, changesOf({ interval, platform }, body));
    }
    if (team_id === null) await this.call(scheduleApi.modify, { params: { id }, body });
    else await this.call(scheduleApi.teamModify, { params: { team_id, scheduled_query_id: id }, body });
    await this.report(`changed schedule entry ${name}`, { id, name, ...body });
  }
}
