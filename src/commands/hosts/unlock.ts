import * as Flags from "@oclif/core/flags";
import { hostActionsApi } from "../../api/hosts/host-actions.ts";
import { bulkActionsApi } from "../../api/inventory/bulk-actions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { type AsShown, HostActions, hostActionFlags, type ManyHosts } from "../../cli/topics/hosts/actions.ts";
import type { Target } from "../../cli/topics/hosts/targets.ts";
import { askTyped } from "../../cli/topics/hosts/targets.ts";

export default class HostsUnlock extends ClientCommand {
  static override summary = "Unlock hosts; hosts that are offline are unlocked when they come online.";
  static override description =
    "Hosts are named, or selected with --where. Linux hosts restart. For a locked Mac, the PIN is shown that unlocks " +
    "it; iPhones and iPads leave lost mode. For several hosts, you must type their number or give --confirm NUMBER. " +
    "With --wait, the exit code is 0 if unlocked, 1 or 6 if failed, and 7 if still pending.";
  static override endpoints = [hostActionsApi.unlock, bulkActionsApi.unlock];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    confirm: Flags.string({ summary: "Number of hosts that will be unlocked." }),
    ...hostActionFlags,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> linux-1.example.com"];

  readonly action = "unlock";

  readonly #actions = new HostActions(this, this);

  async run() {
    const { argv, flags } = await this.parse(HostsUnlock);
    await this.#actions.act(argv.map(String), flags);
  }

  request(id: number) {
    return this.call(hostActionsApi.unlock, { params: { id } });
  }

  requestMany(hosts: ManyHosts, options: AsShown) {
    return this.call(bulkActionsApi.unlock, { body: { ...hosts } }, options);
  }

  /** The replies contain the PINs that unlock Macs. */
  isOneByOne(hosts: readonly Target[]): boolean {
    return hosts.some(({ platform }) => platform === "darwin");
  }

  async ask(question: string, hosts: readonly Target[]): Promise<void> {
    if (hosts.length > 1) await askTyped(this, question, hosts);
  }
}
