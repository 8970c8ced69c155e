import { labelsApi } from "../../../api/hosts/labels.ts";
import { bulkActionsApi } from "../../../api/inventory/bulk-actions.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";
import { HostLabels, hostLabelFlags } from "../../../cli/topics/hosts/labels.ts";

export default class HostsLabelsAdd extends ClientCommand {
  static override summary = "Add hosts to manual labels.";
  static override description =
    "The host is named first, then the labels; with --where, all names are those of labels. Hosts that are selected are listed, and their number is typed or " +
    "given with --confirm.";
  static override endpoints = [labelsApi.addToHost, bulkActionsApi.labels];
  static override strict = false;
  static override args = { host: args.hosts, labels: args.labels };
  static override flags = hostLabelFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com Loaners",
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin' Loaners --dry-run",
  ];

  readonly verb = "add";
  readonly preposition = "to";

  async run() {
    const { argv, flags } = await this.parse(HostsLabelsAdd);
    await new HostLabels(this, this).change(argv.map(String), flags);
  }

  requestOne(id: number, labels: string[]) {
    return this.call(labelsApi.addToHost, { params: { id }, body: { labels } });
  }
}
