import { LabelUse, LabelUses, labelEffectsApi } from "../../api/hosts/label-effects.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class LabelsUses extends ClientCommand {
  static override summary = "List what names a label, and what becomes of it if the label is deleted.";
  static override description =
    "Policies, queries, packages and store apps that a label narrows keep it from being deleted (refused). A profile goes to no further host " +
    "(stopped), a pack loses the hosts (untargeted), and selectors of labels and saved views match no host by it any more (unmatched).";
  static override endpoints = [labelEffectsApi.uses];
  static override args = { label: args.label };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Loaners",
    "<%= config.bin %> <%= command.id %> Loaners -o json",
  ];

  async run() {
    const { args } = await this.parse(LabelsUses);
    const { id } = await this.label(args.label);
    const reply = await this.call(labelEffectsApi.uses, { params: { id } });
    if (this.format === "json" || this.format === "yaml") return this.printOne(reply, { schema: () => LabelUses });
    await this.printList(reply.uses, {
      columns: ["kind", "id", "name", { key: "team_name", header: "team" }, "as", "on_delete"],
      schema: () => LabelUse,
    });
    if (reply.hidden_count > 0) this.note(`and ${plural(reply.hidden_count, "use")} that you may not see`);
  }
}
