import * as Flags from "@oclif/core/flags";
import { LabelItem, labelsApi } from "../../api/labels.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { readBody } from "../../cli/input.ts";
import { memberFields, memberFlags, tellUnknown } from "../../cli/label-view.ts";

export default class LabelsUpdate extends ClientCommand {
  static override summary = "Change a label's name, description or, of a manual label, its hosts.";
  static override description =
    "Hosts that are given replace those that were in the label; --hosts '' takes all out. To put single hosts in or out: " +
    "`svc hosts labels`. What a label asks cannot be changed here: `svc labels apply` can.";
  static override endpoints = [labelsApi.modify];
  static override args = { label: args.label };
  static override flags = {
    name: Flags.string({ summary: "New name." }),
    description: Flags.string({ summary: "What the label is for." }),
    ...memberFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Loaners --description 'Back by Friday'",
    "<%= config.bin %> <%= command.id %> Loaners --hosts mac-1.example.com,win-1.example.com",
  ];

  async run() {
    const { args: given, flags } = await this.parse(LabelsUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.description === undefined ? {} : { description: flags.description }),
      ...memberFields(flags),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const { id } = await this.label(given.label);
    if (flags["dry-run"]) {
      this.validate(labelsApi.modify, body);
      const { label: before } = await this.call(labelsApi.get, { params: { id } });
      return this.printPlan(
        `change label ${before.name}`,
        { id, name: before.name, count: before.count },
        changesOf(before, body),
      );
    }
    const { label } = await this.call(labelsApi.modify, { params: { id }, body });
    await this.report(`changed label ${label.name}`, label, { schema: LabelItem });
    tellUnknown(body, label.count, (text) => this.warn(text));
  }
}
