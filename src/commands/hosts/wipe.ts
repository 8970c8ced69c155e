import * as Flags from "@oclif/core/flags";
import { hostActionsApi, type WindowsWipeType, wipeTypes } from "../../api/hosts/host-actions.ts";
import { bulkActionsApi } from "../../api/inventory/bulk-actions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { type AsShown, HostActions, hostActionFlags, type ManyHosts } from "../../cli/topics/hosts/actions.ts";
import type { Target } from "../../cli/topics/hosts/targets.ts";
import { askTyped } from "../../cli/topics/hosts/targets.ts";

export default class HostsWipe extends ClientCommand {
  static override summary =
    "Erase hosts; hosts that are offline are erased when they come online. This cannot be undone.";
  static override destructive = true;
  static override description =
    "Hosts are named, or selected with --where. You must type the host's name, or the number of hosts; without a " +
    "terminal, give it with --confirm. With --wait, the exit code is 0 if wiped, 1 or 6 if failed, and 7 if still " +
    "pending. If the server requires another admin's approval, it is requested instead of the wipe (exit code 7).";
  static override endpoints = [hostActionsApi.wipe, bulkActionsApi.wipe];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    confirm: Flags.string({ summary: "Name of the host, or number of hosts, that will be erased." }),
    "windows-wipe-type": Flags.option({
      options: wipeTypes,
      summary:
        "How Windows hosts are erased; doWipeProtected, which switching them off does not stop, unless it is given.",
    })(),
    ...hostActionFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --confirm linux-1.example.com",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --dry-run",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --windows-wipe-type doWipe --dry-run",
  ];

  readonly action = "wipe";
  #wipeType: WindowsWipeType | undefined;

  readonly #actions = new HostActions(this, this);

  async run() {
    const { argv, flags } = await this.parse(HostsWipe);
    this.#wipeType = flags["windows-wipe-type"];
    await this.#actions.act(argv.map(String), flags);
  }

  request(id: number, options: AsShown) {
    const { windows } = this.#options();
    return this.call(hostActionsApi.wipe, { params: { id }, body: windows && { windows } }, options);
  }

  requestMany(hosts: ManyHosts, options: AsShown) {
    return this.call(bulkActionsApi.wipe, { body: { ...hosts, ...this.#options() } }, options);
  }

  #options(): { windows?: { wipe_type: WindowsWipeType } } {
    const wipe_type = this.#wipeType;
    return wipe_type === undefined ? {} : { windows: { wipe_type } };
  }

  async ask(question: string, hosts: readonly Target[]): Promise<void> {
    await askTyped(this, `${question} This cannot be undone.`, hosts);
  }
}
