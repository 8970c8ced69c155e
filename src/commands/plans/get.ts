import { plansApi } from "../../api/edge/plans.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { Configuration } from "../../cli/topics/configuration.ts";
import { nameOfPlan, planText } from "../../cli/topics/plans.ts";
import { printable } from "../../text/printable.ts";

export default class PlansGet extends ClientCommand {
  static override summary = "Show a plan: what it changes, field by field, and on which hosts.";
  static override endpoints = [plansApi.get];
  static override args = { id: args.required("id of the plan") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1", "<%= config.bin %> <%= command.id %> 1 -o json"];

  async run() {
    const { args: given } = await this.parse(PlansGet);
    const { plan } = await this.call(plansApi.get, { params: { id: given.id } });
    if (this.structured) return this.printOne(plan);
    const { state, created_by, expires_at, applied_by, applied_at } = plan;
    const until =
      state === "applied"
        ? `applied by ${printable(applied_by!.email)} at ${applied_at}`
        : `${state}, expires at ${expires_at}`;
    await this.write(`${nameOfPlan(plan)} of ${printable(created_by.email)}: ${until}\n\n`);
    await this.write(planText(plan, new Configuration(this).planPaint));
  }
}
