// Commands that do something on hosts one by one: how the hosts are found, and the change confirmed.
import * as Flags from "@oclif/core/flags";
import type { Host } from "../../api/hosts/host.ts";
import { printable } from "../../text/printable.ts";
import { CliError, failed } from "../errors.ts";
import { dryRunFlag } from "../flags.ts";
import { plural } from "../output/text.ts";
import { type Going, waitFor } from "../wait.ts";
import { choiceFlags, HostsCommand } from "./hosts-command.ts";

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
  readonly isOpen: (one: T) => boolean;
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

export abstract class TargetsCommand extends HostsCommand {
  /** The hosts that are named, or selected, each once. All hosts that the user can see are refused without --all-hosts. */
  protected async targets(names: readonly string[], { where, "all-hosts": allHosts }: Choice): Promise<Target[]> {
    const filters = await this.filtersOr(names, { where, "all-hosts": allHosts });
    const hosts =
      filters === null ? await this.namedAs(names, targetOf) : await this.pickedAs(filters, undefined, targetOf);
    await this.checkChoice(hosts.length, allHosts);
    return hosts;
  }

  /** Asks for the number of hosts if they were selected: nobody has typed their names. */
  protected async askIfSelected(question: string, names: readonly string[], hosts: readonly Target[]): Promise<void> {
    if (names.length === 0 && hosts.length > 1) await this.askTyped(question, hosts);
  }

  /** Waits until all of them have reported. `report` gets what is known at each look, also if the wait fails. */
  protected async followAll<T>(
    begun: readonly T[],
    { timeout, isOpen, look, report, going }: Following<T>,
  ): Promise<void> {
    const progress = this.progress(`waiting for ${plural(begun.length, "host")} ...`);
    let now = [...begun];
    const done = async () => {
      now = await Promise.all(now.map((one) => (isOpen(one) ? look(one) : one)));
      report(now);
      const open = now.filter(isOpen).length;
      progress.update(`${now.length - open} of ${plural(now.length, "host")} reported ...`);
      return open === 0;
    };
    const left = () => going(plural(now.filter(isOpen).length, "host"));
    await waitFor(this.io, this.stop.signal, { timeout, done, going: left }).finally(progress.done);
  }

  /** Fails if it failed on a host; `bad`: the hosts on which it did. */
  protected concludeAll(all: readonly unknown[], bad: readonly FailedOn[]): void {
    const [first] = bad;
    if (first === undefined) return;
    if (all.length === 1) throw failed(`${first.host}: ${first.reason}`);
    if (bad.length === all.length) throw failed(`failed on all hosts: ${first.reason}`);
    throw new CliError("partial", `failed on ${bad.length} of ${plural(all.length, "host")}`);
  }

  /** Requires the user to type the number of hosts, or for one host either of its names. */
  protected async askTyped(question: string, hosts: readonly Target[]): Promise<void> {
    const [host] = hosts;
    if (hosts.length !== 1 || !host) {
      this.printSelection(await this.shownNamed(hosts));
      return this.confirmTyped(question, String(hosts.length));
    }
    const { hostname, display_name } = host;
    await this.confirmTyped(question, this.common.confirm === hostname ? hostname : display_name);
  }
}
