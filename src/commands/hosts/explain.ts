import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { whereFlag } from "../../cli/topics/hosts/choice.ts";
import { printable } from "../../text/printable.ts";

export default class HostsExplain extends ClientCommand {
  static override summary = "Show which parts of a selector match a host.";
  static override endpoints = [hostsApi.explain];
  static override args = { host: args.host };
  static override flags = { where: { ...whereFlag.where, required: true, summary: "The selector." } };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --where 'platform = darwin and not (online or team = Lab)'",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsExplain);
    const { id, display_name } = await this.host(args.host);
    const reply = await this.call(hostsApi.explain, { params: { id }, query: { where: flags.where as string } });
    const schema = () => hostsApi.explain.response;
    if (this.structured || this.common.fields !== undefined) return this.printOne(reply, { schema });
    this.note(`${printable(display_name)} is ${reply.matches ? "selected" : "not selected"}`);
    const lines = reply.parts.map(({ text, depth, matches }) => ({ matches, part: `${"  ".repeat(depth)}${text}` }));
    await this.printList(lines, {
      columns: [{ key: "matches", text: (matches) => (matches === true ? "yes" : "no") }, { key: "part" }],
    });
  }
}
