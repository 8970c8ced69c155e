import * as Flags from "@oclif/core/flags";
import { configurationApi } from "../../api/edge/configuration.ts";
import { type CreatePlan, type PlanChange, plansApi } from "../../api/edge/plans.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { Configuration } from "../../cli/topics/configuration.ts";
import { filesFlags } from "../../cli/topics/configuration-files.ts";
import { nameOfPlan, planText } from "../../cli/topics/plans.ts";
import type { Change } from "../../gitops/plan/diff.ts";
import { filesOf, secretsOf, toThingChange, uploadsOf } from "../../gitops/plan/plan.ts";
import { plural } from "../../text/plural.ts";

export default class PlansCreate extends ClientCommand {
  static override summary = "Keep changes of the configuration on the server, with the hosts that they affect.";
  static override description =
    "The changes are those that `svc plan` shows for the same files, but nothing is removed unless --delete-absent is given: an object in no file stays. " +
    "With --input they are given as the API takes them, which also works without the right to apply files. " +
    "The server tries the changes out, and says which hosts get, lose or keep what they change, and which cannot have it. " +
    "Apply the plan with `svc plans apply` within 24 hours.";
  static override endpoints = [plansApi.create, configurationApi.state];
  static override flags = {
    ...filesFlags,
    name: Flags.string({ summary: "What the plan is for." }),
    "delete-absent": Flags.boolean({ summary: "Also remove what files do not contain, as `svc apply` does." }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    '<%= config.bin %> <%= command.id %> -f default.yml --name "New policies"',
    "<%= config.bin %> <%= command.id %> -f default.yml --dry-run",
    "<%= config.bin %> <%= command.id %> --input changes.json",
  ];

  readonly #configuration = new Configuration(this);

  async run() {
    const { flags } = await this.parse(PlansCreate);
    if (flags.input !== undefined && flags.file !== undefined)
      throw usage(
        "give either --input or files, not both",
        "`svc plans create -f default.yml`, or `--input changes.json`.",
      );
    const body: Record<string, unknown> =
      flags.input === undefined ? await this.#ofFiles(flags) : await readBody(this.io, flags.input);
    if (flags.name !== undefined) body.name = flags.name;
    const { plan } = await this.call(plansApi.create, { body: body as CreatePlan });
    if (this.structured) return this.printOne(plan);
    await this.write(planText(plan, this.#configuration.planPaint));
    if (this.triesOut) this.note("nothing was kept: this was a dry run");
    else
      this.note(`kept as ${nameOfPlan(plan)}: apply it with \`svc plans apply ${plan.id}\` before ${plan.expires_at}`);
  }

  async #ofFiles(
    flags: Parameters<Configuration["planned"]>[0] & { "delete-absent"?: boolean },
  ): Promise<Record<string, unknown>> {
    const { changes, secrets, contents, uploads } = await this.#configuration.planned(flags);
    const kept = flags["delete-absent"] ? changes : changes.filter(({ action }) => action !== "delete");
    const left = changes.length - kept.length;
    if (left > 0)
      this.#configuration.remark(`${plural(left, "object")} in no file, kept unchanged; --delete-absent removes them`);
    if (kept.length === 0)
      throw failed("the files change nothing", "`svc plan` with the same files shows the differences.");
    if (uploadsOf(kept, uploads).length > 0)
      throw failed(
        "a plan cannot contain files that have to be uploaded",
        "Use `svc apply` for packages and other large files.",
      );
    return { changes: kept.map(planChange), secrets: secretsOf(kept, secrets), files: filesOf(kept, contents) };
  }
}

function planChange(change: Change): PlanChange {
  const { action, ...rest } = toThingChange(change);
  return { ...rest, action: action === "delete" ? "delete" : "set" };
}
