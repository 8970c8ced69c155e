// Commands that do something on hosts one by one: how the hosts are found, and the change confirmed.

import * as Flags from "@oclif/core/flags";
import type { Host } from "../../../api/hosts/host.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, failed } from "../../errors.ts";
import { dryRunFlag } from "../../flags.ts";
import { type Going, waitFor } from "../../wait.ts";
import {
  checkChoice,
  choiceFlags,
  filtersOr,
  type May,
  namedHostsAs,
  pickedHostsAs,
  printSelection,
  shownNamed,
} from "./choice.ts";

export type Target = Pick<
  Host,
  "id" | "uuid" | "hostname" | "display_name" | "platform" | "mdm" | "team_id" | "team_name"
>;

export const targetFlags = {
  where: choiceFlags.where,
  "all-hosts": choiceFlags["all-hosts"],
  ...dryRunFlag,
};
/** Flag of commands that ask only if the hosts were selected. */
export const confirmFlag = {
  confirm: Flags.string({ summary: "Number of hosts that --where or --all-hosts selects." }),
};
interface Choice {
  readonly where?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
}

const targetOf = ({ id, uuid, hostname, display_name, platform, mdm, team_id, team_name }: Host): Target => ({
  id,
  uuid,
  hostname,
  display_name,
  platform,
  mdm,
  team_id,
  team_name,
});

export const shortNameOf = (hosts: readonly Target[]): string =>
  hosts.length === 1 ? printable(hosts[0]!.display_name) : plural(hosts.length, "host");

interface Following<T> {
  readonly timeout: string;
  readonly isOpen: (outcome: T) => boolean;
  /** What the server knows of it now. */
  readonly look: (before: T) => Promise<T>;
  readonly report: (now: T[]) => void;
  /** `hosts`: how many have not reported, such as `2 hosts`. */
  readonly going: (hosts: string) => Going;
}

interface FailedOn {
  readonly host: string;
  readonly reason: string;
}

/** The hosts that are named, or selected among those on which the user may do this, each once. All hosts that the user can see are refused without --all-hosts. */
export async function findTargets(
  command: ClientCommand,
  names: readonly string[],
  { where, "all-hosts": allHosts }: Choice,
  may?: May,
): Promise<Target[]> {
  const filters = await filtersOr(command, names, { where, "all-hosts": allHosts });
  const hosts =
    filters === null
      ? await namedHostsAs(command, names, targetOf)
      : await pickedHostsAs(command, filters, may, targetOf);
  await checkChoice(command, hosts.length, allHosts);
  return hosts;
}

/** Asks for the number of hosts if they were selected: nobody has typed their names. */
export async function askIfSelected(
  command: ClientCommand,
  question: string,
  names: readonly string[],
  hosts: readonly Target[],
): Promise<void> {
  if (names.length === 0 && hosts.length > 1) await askTyped(command, question, hosts);
}

/** Waits until all of them have reported. `report` gets what is known at each look, also if the wait fails. */
export async function followAll<T>(
  command: ClientCommand,
  begun: readonly T[],
  { timeout, isOpen, look, report, going }: Following<T>,
): Promise<void> {
  const progress = command.progress(`waiting for ${plural(begun.length, "host")} ...`);
  let now = [...begun];
  const done = async () => {
    now = await Promise.all(now.map((outcome) => (isOpen(outcome) ? look(outcome) : outcome)));
    report(now);
    const open = now.filter(isOpen).length;
    progress.update(`${now.length - open} of ${plural(now.length, "host")} reported ...`);
    return open === 0;
  };
  const left = () => going(plural(now.filter(isOpen).length, "host"));
  await waitFor(command.io, command.stop.signal, { timeout, done, going: left }).finally(progress.done);
}

/** Fails if it failed on a host; `bad`: the hosts on which it did. */
export function concludeAll(all: readonly unknown[], bad: readonly FailedOn[]): void {
  const [first] = bad;
  if (first === undefined) return;
  if (all.length === 1) throw failed(`${first.host}: ${first.reason}`);
  if (bad.length === all.length) throw failed(`failed on all hosts: ${first.reason}`);
  throw new CliError("partial", `failed on ${bad.length} of ${plural(all.length, "host")}`);
}

/** Requires the user to type the number of hosts, or for one host either of its names. */
export async function askTyped(command: ClientCommand, question: string, hosts: readonly Target[]): Promise<void> {
  const [host] = hosts;
  if (hosts.length !== 1 || !host) {
    printSelection(command, await shownNamed(hosts));
    return command.confirmTyped(question, String(hosts.length));
  }
  const { hostname, display_name } = host;
  await command.confirmTyped(question, command.common.confirm === hostname ? hostname : display_name);
}
