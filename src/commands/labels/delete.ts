import { labelsApi } from "../../api/hosts/labels.ts";
import { isPathStep } from "../../api/paths.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class LabelsDelete extends ClientCommand {
  static override summary = "Delete a label. Its hosts are kept.";
  static override destructive = true;
  static override endpoints = [labelsApi.delete, labelsApi.deleteById];
  static override args = { label: args.label };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Loaners --yes",
    "<%= config.bin %> <%= command.id %> 14 --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(LabelsDelete);
    const { id, name } = await this.label(args.label);
    const { label } = await this.call(labelsApi.get, { params: { id } });
    const what = `label ${name} (${plural(label.count, "host")} in it)`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name, count: label.count });
    await this.confirm(`Delete ${what}?`);
    // Deleted by the given name, so that a label that was renamed meanwhile is not deleted.
    if (args.label === name && !isPathStep(name)) await this.call(labelsApi.delete, { params: { name } });
    else await this.call(labelsApi.deleteById, { params: { id } });
    await this.report(`deleted label ${name}`, { id, name, deleted: true });
  }
}
