// Commands that change many hosts at once: which are meant, and how that is confirmed.
import * as Flags from "@oclif/core/flags";
import type { Host } from "../api/host.ts";
import { type hostMays, hostStatuses } from "../api/host-filters.ts";
import { hostsApi } from "../api/hosts.ts";
import type { Selection } from "../api/selection.ts";
import { ClientCommand } from "./client-command.ts";
import { CliError, notFound, usage } from "./errors.ts";
import { teamFlag } from "./flags.ts";
import { selectionOfHosts } from "./selection.ts";
import { plural, printable } from "./text.ts";

export type Picked = Pick<Host, "id" | "display_name">;
export type May = (typeof hostMays)[number];
/** Hosts as a person is shown them: the first by name, and what all of them are. */
export interface Shown {
  readonly first: readonly Picked[];
  readonly selection: Selection;
}
/** The filters that such changes take. */
export interface Filters {
  readonly query?: string | undefined;
  readonly status?: (typeof hostStatuses)[number] | undefined;
  readonly label_id?: number | undefined;
  readonly team_id?: number | undefined;
  readonly where?: string | undefined;
}

export const whereFlag = {
  where: Flags.string({
    summary: "Hosts that this selector picks, such as: platform = darwin and seen > 30d.",
    helpValue: "SELECTOR",
  }),
};

export const choiceFlags = {
  query: Flags.string({ summary: "Hosts that this search finds." }),
  status: Flags.option({ options: hostStatuses })({ summary: "Hosts with this status." }),
  "label-id": Flags.integer({ summary: "Hosts with this label.", min: 1 }),
  ...whereFlag,
  ...teamFlag,
  "all-hosts": Flags.boolean({ summary: "Say outright that every host is meant." }),
  confirm: Flags.string({ summary: "Name of the host, or number of hosts, that is meant." }),
};
interface Choice {
  readonly query?: string | undefined;
  readonly status?: Filters["status"];
  readonly "label-id"?: number | undefined;
  readonly where?: string | undefined;
  readonly team?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
}

/** Hosts told by name. */
const TOLD = 10;

export abstract class HostsCommand extends ClientCommand {
  /** The filters that the flags give; null where hosts are named instead. One of the two has to be. */
  protected async filtersOr(names: readonly string[], flags: Choice): Promise<Filters | null> {
    const filters: Filters = {
      query: flags.query,
      status: flags.status,
      label_id: flags["label-id"],
      where: flags.where,
      ...(await this.teamFilter(flags.team)),
    };
    const filtered = Object.values(filters).some((value) => value !== undefined);
    if (names.length > 0 && (filtered || flags["all-hosts"]))
      throw usage("name hosts, or pick them by filters, not both");
    if (names.length === 0 && !filtered && !flags["all-hosts"])
      throw usage("which hosts?", "Name them, pick them by filters, or say --all-hosts.");
    return names.length > 0 ? null : filters;
  }

  protected async named(names: readonly string[]): Promise<Picked[]> {
    const hosts = new Map<number, Picked>();
    for (const name of names) {
      const { id, display_name } = await this.host(name);
      hosts.set(id, { id, display_name });
    }
    return [...hosts.values()];
  }

  protected async picked(filters: Filters, may: May): Promise<Picked[]> {
    this.common.all = true;
    const rows = await this.rows(hostsApi.list, { query: { ...filters, may } }, "hosts");
    return rows.map(({ id, display_name }) => ({ id, display_name }));
  }

  protected async shownNamed(hosts: readonly Picked[]): Promise<Shown> {
    return { first: hosts, selection: await selectionOfHosts(hosts) };
  }

  /** What filters pick, without listing it: there may be a hundred thousand. */
  protected async shownPicked(filters: Filters, may: May): Promise<Shown> {
    for (let tries = 0; tries < 3; tries++) {
      const query = { ...filters, may };
      const { hosts, meta } = await this.call(hostsApi.list, { query: { ...query, page: 0, per_page: TOLD } });
      const first = hosts.map(({ id, display_name }) => ({ id, display_name }));
      if (!meta.has_next_results) return this.shownNamed(first);
      const { count, digest = "" } = await this.call(hostsApi.count, { query: { ...query, digest: true } });
      // Fewer by now than were listed: what was listed is not what was counted.
      if (count > first.length) return { first, selection: { count, digest } };
    }
    throw new CliError("conflict", "the hosts that match change all the while", "Run it again.");
  }

  /** Refuses a choice that holds nothing, or everything without saying so. */
  protected async checkChoice(chosen: number, allHosts: boolean | undefined): Promise<void> {
    if (chosen === 0) throw notFound("no host matches");
    if (chosen === 1 || allHosts) return;
    const { count } = await this.call(hostsApi.count);
    if (chosen >= count)
      throw usage(`these are all ${chosen} hosts that you can see`, "Add --all-hosts if that is meant.");
  }

  /** The first of them by name, for whoever is asked. */
  protected tell({ first, selection }: Shown): void {
    for (const { display_name, id } of first.slice(0, TOLD)) this.note(`  ${printable(display_name)} (${id})`);
    if (selection.count > TOLD) this.note(`  and ${selection.count - TOLD} more`);
  }

  protected nameOf({ first, selection: { count } }: Shown): string {
    const [only] = first;
    return count === 1 && only ? printable(only.display_name) : plural(count, "host");
  }
}
