import { labelsApi } from "../../../api/hosts/labels.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { printable } from "../../../text/printable.ts";

export default class HostsLabelsAdd extends ClientCommand {
  static override summary = "Add a host to manual labels.";
  static override endpoints = [labelsApi.addToHost];
  static override strict = false;
  static override args = { host: args.host, labels: args.labels };
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com Loaners"];

  async run() {
    const { argv, flags } = await this.parse(HostsLabelsAdd);
    const [host = "", ...labels] = argv.map(String);
    if (labels.length === 0) throw usage("no labels are given", "Give the labels after the host.");
    const { id, display_name: shown } = await this.host(host);
    const change = `${printable(shown)} to ${labels.map(printable).join(", ")}`;
    if (flags["dry-run"]) {
      this.trying(`add ${change}`, { id, display_name: shown, labels });
    }
    await this.call(labelsApi.addToHost, { params: { id }, body: { labels } });
    await this.report(`add ${change}`, { id, display_name: shown, labels });
  }
}
