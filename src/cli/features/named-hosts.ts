// Commands that change hosts which the user names: how the hosts are found, and the change confirmed.
import * as Flags from "@oclif/core/flags";
import type { Host } from "../../api/host.ts";
import { hostsApi } from "../../api/hosts.ts";
import { printable } from "../../text/printable.ts";
import { ClientCommand } from "../client-command.ts";
import { CliError, failed, usage } from "../errors.ts";
import { dryRunFlag } from "../flags.ts";
import { plural } from "../output/text.ts";
import { type Going, waitFor } from "../wait.ts";

export type Target = Pick<
  Host,
  "id" | "uuid" | "hostname" | "display_name" | "platform" | "mdm" | "team_id" | "team_name"
>;

export const namedHostsFlags = {
  "all-hosts": Flags.boolean({ summary: "Select all hosts." }),
  ...dryRunFlag,
};

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

export abstract class NamedHostsCommand extends ClientCommand {
  /** Each host once. All hosts that the user can see are refused without --all-hosts. */
  protected async named(names: readonly string[], flags: Readonly<Record<string, unknown>>): Promise<Target[]> {
    if (names.length === 0) throw usage("no hosts are given", "Name them by id, hostname, uuid or serial number.");
    const hosts = new Map<number, Target>();
    for (const name of names) {
      const { id, uuid, hostname, display_name, platform, mdm, team_id, team_name } = await this.host(name);
      hosts.set(id, { id, uuid, hostname, display_name, platform, mdm, team_id, team_name });
    }
    if (hosts.size > 1 && flags["all-hosts"] !== true) {
      const { count } = await this.call(hostsApi.count);
      if (hosts.size >= count)
        throw usage(`these are all ${hosts.size} hosts that you can see`, "To include all of them, add --all-hosts.");
    }
    return [...hosts.values()];
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
    if (hosts.length !== 1 || !host) return this.confirmTyped(question, String(hosts.length));
    const { hostname, display_name } = host;
    await this.confirmTyped(question, this.common.confirm === hostname ? hostname : display_name);
  }
}
