import { bulkActionsApi } from "../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { previewBulk, runBulk, type SendBulk } from "../../cli/topics/hosts/bulk.ts";
import {
  type ChosenHost,
  checkChoice,
  choiceFlags,
  filtersOr,
  namedHosts,
  pickedHosts,
} from "../../cli/topics/hosts/choice.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

const { confirm: _, ...choice } = choiceFlags;

export default class HostsRefetch extends ClientCommand {
  static override summary = "Request all details from hosts at their next check-in.";
  static override description =
    "Hosts are named, or selected by filters; --all-hosts selects every host that you can see. The exit code is 6 if some requests failed.";
  static override endpoints = [hostsApi.refetch, bulkActionsApi.refetch];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = { ...choice, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin'",
  ];

  async run() {
    const { argv, flags } = await this.parse(HostsRefetch);
    const names = argv.map(String);
    const filters = await filtersOr(this, names, flags);
    const hosts = filters === null ? await namedHosts(this, names) : await pickedHosts(this, filters, "refetch");
    await checkChoice(this, hosts.length, flags["all-hosts"]);
    const [only] = hosts;
    const what = hosts.length === 1 && only ? printable(only.display_name) : plural(hosts.length, "host");
    const refused = await this.#ask(hosts, flags["dry-run"] === true);
    const requested = hosts.filter((host) => !refused.includes(host));
    const target = hosts.length === 1 ? what : plural(requested.length, "host");
    if (flags["dry-run"]) await this.printPlan(`request all details from ${what}`, requested);
    else if (requested.length > 0)
      await this.report(
        `all details were requested from ${target}, for the next check-in`,
        hosts.length === 1
          ? { ...only, refetch_requested: true }
          : { refetch_requested: requested.length, hosts: requested },
      );
    if (refused.length > 0) throw new CliError("partial", `the request failed for ${plural(refused.length, "host")}`);
  }

  /** Returns the hosts that the server left out. */
  async #ask(hosts: readonly ChosenHost[], isDry: boolean): Promise<ChosenHost[]> {
    const [only] = hosts;
    if (hosts.length === 1 && only) {
      await this.call(hostsApi.refetch, { params: { id: only.id } });
      return [];
    }
    const send: SendBulk = (ids, options) => this.call(bulkActionsApi.refetch, { body: { ids } }, options);
    if (isDry) {
      const { skipped_reasons } = await previewBulk(this, hosts, send);
      const ids = new Set(skipped_reasons.flatMap(({ hosts }) => hosts.map(({ id }) => id)));
      return hosts.filter(({ id }) => ids.has(id));
    }
    const { results } = await runBulk(this, hosts, send);
    const skipped = results.filter(({ outcome }) => outcome === "skipped");
    for (const { display_name, reason } of skipped) this.note(`${printable(display_name)}: ${printable(reason)}`);
    const ids = new Set(skipped.map(({ id }) => id));
    return hosts.filter(({ id }) => ids.has(id));
  }
}
