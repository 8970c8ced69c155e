import * as Flags from "@oclif/core/flags";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, isNoTeam } from "../../cli/flags.ts";
import { asShown } from "../../cli/selection.ts";
import {
  checkChoice,
  choiceFlags,
  type Filters,
  filtersOr,
  namedHosts,
  nameOfShown,
  pickedHosts,
  printSelection,
  shownNamed,
  shownPicked,
} from "../../cli/topics/hosts/choice.ts";
import { plural } from "../../text/plural.ts";

interface Destination {
  readonly id: number | null;
  readonly name: string;
}

export default class HostsTransfer extends ClientCommand {
  static override summary = "Move hosts to a team, or to no team (premium).";
  static override description =
    "Hosts are named, or selected by filters; --team is then their current team. For several hosts, you must type their number or give " +
    "--confirm NUMBER. A selection of all hosts needs --all-hosts. Nothing is moved if the selection has changed in the meantime (exit code 5).";
  static override endpoints = [hostsApi.transfer, hostsApi.transferByFilter];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    to: Flags.string({ required: true, summary: "Team to move to, by name or id; none: no team.", helpValue: "TEAM" }),
    ...choiceFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --to Lab",
    "<%= config.bin %> <%= command.id %> --team Workstations --status online --to none --confirm 1",
    "<%= config.bin %> <%= command.id %> --where 'platform != darwin' --to Lab --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(HostsTransfer);
    const names = argv.map(String);
    const filters = await filtersOr(this, names, flags);
    const team = await this.#destination(flags.to);
    if (filters === null) return this.#moveNamed(names, team, flags);
    await this.#moveFiltered(filters, team, flags);
  }

  async #destination(text: string): Promise<Destination> {
    if (isNoTeam(text)) return { id: null, name: "no team" };
    const { id, name } = await this.team(text);
    return { id, name };
  }

  async #moveNamed(names: readonly string[], team: Destination, flags: TransferFlags): Promise<void> {
    const hosts = await namedHosts(this, names);
    await checkChoice(this, hosts.length, flags["all-hosts"]);
    if (flags["dry-run"]) this.trying(`move ${plural(hosts.length, "host")} to ${team.name}`, hosts);
    const shown = await shownNamed(hosts);
    if (hosts.length > 1) {
      printSelection(this, shown);
      await this.confirmTyped(`Move ${plural(hosts.length, "host")} to ${team.name}?`, String(hosts.length));
    }
    const body = { team_id: team.id, hosts: hosts.map(({ id }) => id) };
    await asShown(shown.selection, (options) => this.call(hostsApi.transfer, { body }, options));
    await this.report(`moved ${nameOfShown(shown)} to ${team.name}`, {
      moved: hosts.length,
      team_id: team.id,
      hosts,
    });
  }

  /** The server selects the hosts by the filters, because there may be a hundred thousand. */
  async #moveFiltered(filters: Filters, team: Destination, flags: TransferFlags): Promise<void> {
    this.validate(hostsApi.transferByFilter, { team_id: team.id, filters });
    const shown = await shownPicked(this, filters, "transfer");
    const { count } = shown.selection;
    await checkChoice(this, count, flags["all-hosts"]);
    const what = `${plural(count, "host")} to ${team.name}`;
    if (flags["dry-run"]) this.trying(`move ${what}`, await pickedHosts(this, filters, "transfer"));
    printSelection(this, shown);
    await this.confirmTyped(`Move ${what}?`, String(count));
    const body = { team_id: team.id, filters };
    await asShown(shown.selection, (options) => this.call(hostsApi.transferByFilter, { body }, options));
    await this.report(`moved ${what}`, { moved: count, team_id: team.id, filters });
  }
}

interface TransferFlags {
  readonly "all-hosts"?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
}
