import * as Flags from "@oclif/core/flags";
import { labelFields } from "../../api/hosts/label.ts";
import { LabelItem, labelsApi } from "../../api/hosts/labels.ts";
import { fieldNames } from "../../api/plain-fields.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { fieldsOfFlags, plainFlags } from "../../cli/plain-flags.ts";
import { memberFields, memberFlags, warnUnknown } from "../../cli/topics/labels.ts";

export default class LabelsUpdate extends ClientCommand {
  static override summary = "Change a label's name or description, or the hosts of a manual label.";
  static override description =
    "The given hosts replace those in the label; --hosts '' removes all. To add or remove single hosts, use " +
    "`svc hosts labels`. The query of a label can only be changed with `svc labels apply`.";
  static override endpoints = [labelsApi.modify];
  static override args = { label: args.label };
  static override flags = {
    name: Flags.string({ summary: "New name." }),
    ...plainFlags(labelFields),
    ...memberFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Loaners --description 'Back by Friday'",
    "<%= config.bin %> <%= command.id %> Loaners --hosts mac-1.example.com,win-1.example.com",
  ];

  async run() {
    const { args, flags } = await this.parse(LabelsUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...fieldsOfFlags(flags, ["name", ...fieldNames(labelFields)]),
      ...(await memberFields(flags, (text) => this.host(text))),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const { id } = await this.label(args.label);
    if (flags["dry-run"]) {
      const { label: before } = await this.call(labelsApi.get, { params: { id } });
      this.trying(
        `change label ${before.name}`,
        { id, name: before.name, count: before.count },
        changesOf(before, body),
      );
    }
    const { label } = await this.call(labelsApi.modify, { params: { id }, body });
    await this.report(`changed label ${label.name}`, label, { schema: () => LabelItem });
    warnUnknown(body, label.count, (text) => this.warn(text));
  }
}
