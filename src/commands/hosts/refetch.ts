import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import {
  type ChosenHost,
  checkChoice,
  choiceFlags,
  filtersOr,
  namedHosts,
  pickedHosts,
} from "../../cli/topics/hosts/choice.ts";
import { ApiCallError } from "../../client/errors.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

const { confirm: _, ...choice } = choiceFlags;
/** Maximum number of concurrent requests. */
const MAX_CONCURRENT = 8;

export default class HostsRefetch extends ClientCommand {
  static override summary = "Request all details from hosts at their next check-in.";
  static override description =
    "Hosts are named, or selected by filters; --all-hosts selects every host that you can see. The exit code is 6 if some requests failed.";
  static override endpoints = [hostsApi.refetch];
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
    const hosts = filters === null ? await namedHosts(this, names) : await pickedHosts(this, filters);
    await checkChoice(this, hosts.length, flags["all-hosts"]);
    const [only] = hosts;
    const what = hosts.length === 1 && only ? printable(only.display_name) : plural(hosts.length, "host");
    const refused = await this.#ask(hosts);
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

  /** Sends a request for each host; returns the hosts that the server refused. */
  async #ask(hosts: readonly ChosenHost[]): Promise<ChosenHost[]> {
    const refused: ChosenHost[] = [];
    const waiting = hosts.values();
    const progress = this.progress(`requesting details from ${plural(hosts.length, "host")} ...`);
    let done = 0;
    const asker = async () => {
      for (const host of waiting) {
        try {
          await this.call(hostsApi.refetch, { params: { id: host.id } });
        } catch (error) {
          if (!(error instanceof ApiCallError) || hosts.length === 1) throw error;
          refused.push(host);
          this.note(`${printable(host.display_name)}: ${printable(error.message)}`);
        }
        done++;
        progress.update(`${done} of ${plural(hosts.length, "host")} requested ...`);
      }
    };
    try {
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, asker));
    } finally {
      progress.done();
    }
    return refused;
  }
}
