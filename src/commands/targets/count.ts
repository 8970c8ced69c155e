import * as Flags from "@oclif/core/flags";
import { targetsApi } from "../../api/inventory/targets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { LiveQueries, targetFlags } from "../../cli/topics/queries/live.ts";

export default class TargetsCount extends ClientCommand {
  static override summary = "Count the hosts that a query would run on.";
  static override endpoints = [targetsApi.count];
  static override flags = {
    query: Flags.string({ summary: "Count for this saved query, by name or id.", helpValue: "NAME" }),
    ...targetFlags,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --labels 'All Hosts'"];

  readonly #live = new LiveQueries(this);

  async run() {
    const { flags } = await this.parse(TargetsCount);
    const query_id = flags.query === undefined ? null : (await this.savedQuery(flags.query)).id;
    const selected = (await this.#live.selected(flags)) ?? {};
    if (flags["dry-run"]) this.trying("count targets, which changes nothing", selected);
    await this.printOne(await this.call(targetsApi.count, { body: { query_id, selected } }));
  }
}
