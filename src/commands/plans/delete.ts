import { plansApi } from "../../api/edge/plans.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { nameOfPlan } from "../../cli/topics/plans.ts";

export default class PlansDelete extends ClientCommand {
  static override summary = "Delete a plan without applying it.";
  static override destructive = true;
  static override endpoints = [plansApi.delete, plansApi.get];
  static override args = { id: args.required("id of the plan") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args: input, flags } = await this.parse(PlansDelete);
    const params = { id: input.id };
    const { plan } = await this.call(plansApi.get, { params });
    const { id, name } = plan;
    const what = nameOfPlan(plan);
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name });
    await this.confirm(`Delete ${what}?`);
    await this.call(plansApi.delete, { params });
    await this.report(`deleted ${what}`, { id, name });
  }
}
