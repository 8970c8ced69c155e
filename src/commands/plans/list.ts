import { plansApi } from "../../api/edge/plans.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { planView } from "../../cli/topics/plans.ts";

export default class PlansList extends ClientCommand {
  static override summary = "List plans: your own, and those about what you may read.";
  static override endpoints = [plansApi.list];
  static override flags = { ...queryFlags(plansApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --state pending",
    "<%= config.bin %> <%= command.id %> --limit 20 -o json",
  ];

  async run() {
    const { flags } = await this.parse(PlansList);
    const rows = await this.rows(plansApi.list, { query: queryOf(plansApi.list, flags) }, "plans");
    await this.printList(rows, planView(this.relativeTimes, this.io.now()));
  }
}
