import * as Flags from "@oclif/core/flags";
import { packsApi } from "../../../api/checks/packs.ts";
import { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { entryFields, entryFlags } from "../../../cli/topics/queries/saved-query.ts";

export default class PacksScheduleUpdate extends ClientCommand {
  static override summary = "Change a scheduled query of a pack.";
  static override endpoints = [packsApi.modifyScheduled];
  static override args = { id: args.required("id of the scheduled query") };
  static override flags = {
    ...entryFlags,
    name: Flags.string({ summary: "Name in the pack." }),
    denylist: Flags.boolean({ summary: "Agents may disable the query if it uses too many resources.", allowNo: true }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --interval 60"];

  async run() {
    const { args, flags } = await this.parse(PacksScheduleUpdate);
    const body = { ...(await readBody(this.io, flags.input)), ...entryFields(flags) };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const params = { id: args.id };
    if (flags["dry-run"]) {
      this.validate(packsApi.modifyScheduled, body);
      const { scheduled: before } = await this.call(packsApi.getScheduled, { params });
      const { id, name } = before;
      this.trying(`change scheduled query ${name}`, { id, name }, changesOf(before, body));
    }
    const { scheduled } = await this.call(packsApi.modifyScheduled, { params, body });
    await this.report(`changed scheduled query ${scheduled.name}`, scheduled, { schema: () => ScheduledEntry });
  }
}
