// Commands that change many hosts at once: which are meant, and how that is confirmed.
import * as Flags from "@oclif/core/flags";
import { type Host, hostStatuses, hostsApi } from "../api/hosts.ts";
import { ClientCommand } from "./client-command.ts";
import { notFound, usage } from "./errors.ts";
import { teamFlag } from "./flags.ts";
import { plural, printable } from "./text.ts";

export type Picked = Pick<Host, "id" | "display_name">;
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

  protected async picked(filters: Filters): Promise<Picked[]> {
    this.common.all = true;
    const rows = await this.rows(hostsApi.list, { query: filters }, "hosts");
    return rows.map(({ id, display_name }) => ({ id, display_name }));
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
  protected tell(hosts: readonly Picked[], total: number): void {
    for (const { display_name, id } of hosts.slice(0, 10)) this.note(`  ${printable(display_name)} (${id})`);
    if (total > 10) this.note(`  and ${total - 10} more`);
  }

  protected nameOf(hosts: readonly Picked[]): string {
    const [only] = hosts;
    return hosts.length === 1 && only ? printable(only.display_name) : plural(hosts.length, "host");
  }
}
