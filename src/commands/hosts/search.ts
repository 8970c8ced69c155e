import * as Args from "@oclif/core/args";
import * as Flags from "@oclif/core/flags";
import { targetsApi } from "../../api/inventory/targets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { hostView } from "../../cli/topics/hosts/view.ts";

export default class HostsSearch extends ClientCommand {
  static override summary = "Find hosts that a query can run on, at most 10.";
  static override endpoints = [targetsApi.hosts];
  static override args = { text: Args.string({ description: "part of a name, serial number, uuid or address" }) };
  static override flags = {
    query: Flags.string({ summary: "Hosts for this saved query, by name or id.", helpValue: "NAME" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> mac"];

  async run() {
    const { args, flags } = await this.parse(HostsSearch);
    const query_id = flags.query === undefined ? null : (await this.savedQuery(flags.query)).id;
    if (flags["dry-run"]) this.trying("search hosts, which changes nothing", args.text ?? "");
    const { targets } = await this.call(targetsApi.hosts, { body: { query: args.text ?? "", query_id } });
    await this.printList(targets.hosts, hostView(this.relativeTimes, this.io.now()));
  }
}
