import { plansApi } from "../../api/edge/plans.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { Configuration } from "../../cli/topics/configuration.ts";
import { nameOfPlan, planText, summaryOfPlan } from "../../cli/topics/plans.ts";
import { ApiCallError } from "../../client/errors.ts";

export default class PlansApply extends ClientCommand {
  static override summary = "Apply a plan that the server keeps, in one transaction.";
  static override description =
    "Shows the plan and asks for confirmation. If something that it changes was changed since it was made, nothing is done, and the " +
    "error names it (exit code 5). A plan that was applied already stays as it is.";
  static override destructive = true;
  static override endpoints = [plansApi.apply, plansApi.get];
  static override args = { id: args.required("id of the plan") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --yes",
    "<%= config.bin %> <%= command.id %> 1 --dry-run",
  ];

  async run() {
    const { args: given } = await this.parse(PlansApply);
    const params = { id: given.id };
    const { plan } = await this.call(plansApi.get, { params });
    const what = nameOfPlan(plan);
    if (plan.state === "applied") return this.report(`${what} was applied already`, plan);
    if (!this.structured) await this.write(planText(plan, new Configuration(this).planPaint));
    await this.confirm(`Apply ${what}: ${summaryOfPlan(plan)}?`);
    try {
      const { plan: applied } = await this.call(plansApi.apply, { params });
      await this.report(`${this.triesOut ? "would apply" : "applied"} ${what}: ${summaryOfPlan(applied)}`, applied);
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 409) throw error;
      throw new CliError("conflict", error.message, "Nothing was applied. Make the plan again.", error.errors);
    }
  }
}
