import * as Flags from "@oclif/core/flags";
import { packsApi } from "../../../api/checks/packs.ts";
import { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { entryFields, entryFlags } from "../../../cli/topics/queries/saved-query.ts";

export default class PacksScheduleAdd extends ClientCommand {
  static override summary = "Schedule a global query in a pack.";
  static override endpoints = [packsApi.schedule];
  static override args = { pack: args.pack, query: args.query };
  static override flags = {
    ...entryFlags,
    name: Flags.string({ summary: "Name in the pack. Default: the query's name." }),
    denylist: Flags.boolean({ summary: "Agents may disable the query if it uses too many resources.", allowNo: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Compliance 'USB devices' --interval 600 --snapshot"];

  async run() {
    const { args, flags } = await this.parse(PacksScheduleAdd);
    if (flags.interval === undefined) throw usage("--interval is required");
    const pack = await this.pack(args.pack);
    const query = await this.savedQuery(args.query);
    const body = {
      pack_id: pack.id,
      query_id: query.id,
      interval: flags.interval,
      snapshot: flags.snapshot ?? false,
      removed: flags.removed ?? true,
      ...entryFields(flags),
    };
    if (flags["dry-run"]) {
      this.trying(`schedule ${query.name} in pack ${pack.name}`, null, changesOf({}, body));
    }
    const { scheduled } = await this.call(packsApi.schedule, { body });
    await this.report(`scheduled ${scheduled.name} (${scheduled.id}) in pack ${pack.name}`, scheduled, {
      schema: () => ScheduledEntry,
    });
  }
}
