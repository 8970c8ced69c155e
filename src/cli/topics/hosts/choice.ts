// Commands that change many hosts at once: how the hosts are selected, and the change confirmed.

import * as Flags from "@oclif/core/flags";
import type { Host } from "../../../api/hosts/host.ts";
import type { Selection } from "../../../api/hosts/selection-digest.ts";
import { type hostMays, hostStatuses } from "../../../api/inventory/host-filters.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, notFound, usage } from "../../errors.ts";
import { labelFlag, teamFlag } from "../../flags.ts";
import { selectionOfHosts } from "../../selection.ts";

export type ChosenHost = Pick<Host, "id" | "display_name">;
const pickedOf = ({ id, display_name }: Host): ChosenHost => ({ id, display_name });
export type May = (typeof hostMays)[number];
/** The hosts that are shown for confirmation: the first ones by name, and count and digest of all of them. */
export interface ShownHosts {
  readonly first: readonly ChosenHost[];
  readonly selection: Selection;
}
/** The filters that these commands take. */
export interface Filters {
  readonly query?: string | undefined;
  readonly status?: (typeof hostStatuses)[number] | undefined;
  readonly label_id?: number | undefined;
  readonly team_id?: number | undefined;
  readonly where?: string | undefined;
}

export const whereFlag = {
  where: Flags.string({
    summary: "Hosts that match this selector, such as: platform = darwin and seen > 30d.",
    helpValue: "SELECTOR",
  }),
};

export const choiceFlags = {
  query: Flags.string({ summary: "Hosts that match this search text." }),
  status: Flags.option({ options: hostStatuses })({ summary: "Hosts with this status." }),
  "label-id": Flags.integer({ summary: "Hosts with this label.", min: 1 }),
  ...labelFlag,
  ...whereFlag,
  ...teamFlag,
  "all-hosts": Flags.boolean({ summary: "Select all hosts." }),
  confirm: Flags.string({ summary: "Confirm without a prompt: the name of the host, or the number of hosts." }),
};
interface Choice {
  readonly query?: string | undefined;
  readonly status?: Filters["status"];
  readonly "label-id"?: number | undefined;
  readonly label?: string | undefined;
  readonly where?: string | undefined;
  readonly team?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
}

/** Maximum number of hosts that are listed by name. */
const MAX_NAMED_HOSTS = 10;

/** The filters from the flags; null if hosts are named instead. One of the two is required. */
export async function filtersOr(
  command: ClientCommand,
  names: readonly string[],
  flags: Choice,
): Promise<Filters | null> {
  const filters: Filters = {
    query: flags.query,
    status: flags.status,
    label_id: flags["label-id"],
    where: flags.where,
    ...(await command.hostFilter(flags)),
  };
  const filtered = Object.values(filters).some((value) => value !== undefined);
  if (names.length > 0 && filtered) throw usage("give either hosts or filters, not both");
  if (names.length === 0 && !filtered && !flags["all-hosts"])
    throw usage("no hosts are given", "Name them, select them with filters, or use --all-hosts.");
  return names.length > 0 ? null : filters;
}

export function namedHosts(command: ClientCommand, names: readonly string[]): Promise<ChosenHost[]> {
  return namedHostsAs(command, names, pickedOf);
}

/** The hosts with these names, each once, with what `of` takes from them. */
export async function namedHostsAs<T extends ChosenHost>(
  command: ClientCommand,
  names: readonly string[],
  of: (host: Host) => T,
): Promise<T[]> {
  const hosts = new Map<number, T>();
  for (const name of names) {
    const host = of(await command.host(name));
    hosts.set(host.id, host);
  }
  return [...hosts.values()];
}

export function pickedHosts(command: ClientCommand, filters: Filters, may?: May): Promise<ChosenHost[]> {
  return pickedHostsAs(command, filters, may, pickedOf);
}

export async function pickedHostsAs<T>(
  command: ClientCommand,
  filters: Filters,
  may: May | undefined,
  of: (host: Host) => T,
): Promise<T[]> {
  command.common.all = true;
  const query = { ...filters, ...(may === undefined ? {} : { may }) };
  return (await command.rows(hostsApi.list, { query }, "hosts")).map(of);
}

export async function shownNamed(hosts: readonly ChosenHost[]): Promise<ShownHosts> {
  return { first: hosts, selection: await selectionOfHosts(hosts) };
}

/** Selects by filters without listing all hosts: there may be a hundred thousand. */
export async function shownPicked(command: ClientCommand, filters: Filters, may: May): Promise<ShownHosts> {
  for (let tries = 0; tries < 3; tries++) {
    const query = { ...filters, may };
    const { hosts, meta } = await command.call(hostsApi.list, {
      query: { ...query, page: 0, per_page: MAX_NAMED_HOSTS },
    });
    const first = hosts.map(pickedOf);
    if (!meta.has_next_results) return shownNamed(first);
    const { count, digest = "" } = await command.call(hostsApi.count, { query: { ...query, digest: true } });
    // Retry if there are now fewer hosts than were listed: the list and the count do not match.
    if (count > first.length) return { first, selection: { count, digest } };
  }
  throw new CliError("conflict", "the matching hosts keep changing", "Run it again.");
}

/** Refuses an empty selection, and a selection of all hosts without --all-hosts. */
export async function checkChoice(
  command: ClientCommand,
  chosen: number,
  allHosts: boolean | undefined,
): Promise<void> {
  if (chosen === 0) throw notFound("no host matches");
  if (chosen === 1 || allHosts) return;
  const { count } = await command.call(hostsApi.count);
  if (chosen >= count)
    throw usage(`these are all ${chosen} hosts that you can see`, "To include all of them, add --all-hosts.");
}

/** Lists the first hosts by name, for the confirmation. */
export function printSelection(command: ClientCommand, { first, selection }: ShownHosts): void {
  for (const { display_name, id } of first.slice(0, MAX_NAMED_HOSTS))
    command.note(`  ${printable(display_name)} (${id})`);
  if (selection.count > MAX_NAMED_HOSTS) command.note(`  and ${selection.count - MAX_NAMED_HOSTS} more`);
}

export function nameOfShown({ first, selection: { count } }: ShownHosts): string {
  const [only] = first;
  return count === 1 && only ? printable(only.display_name) : plural(count, "host");
}
