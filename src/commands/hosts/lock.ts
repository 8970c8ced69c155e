import * as Flags from "@oclif/core/flags";
import { hostActionsApi } from "../../api/hosts/host-actions.ts";
import { bulkActionsApi } from "../../api/inventory/bulk-actions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, yesFlag } from "../../cli/flags.ts";
import { type AsShown, HostActions, hostActionFlags, type ManyHosts } from "../../cli/topics/hosts/actions.ts";
import type { Target } from "../../cli/topics/hosts/targets.ts";
import { askTyped } from "../../cli/topics/hosts/targets.ts";

export default class HostsLock extends ClientCommand {
  static override summary = "Lock hosts; hosts that are offline are locked when they come online.";
  static override destructive = true;
  static override description =
    "Hosts are named, or selected with --where. A Mac is locked with a random PIN, which `svc hosts unlock` shows, " +
    "too; supervised iPhones and iPads enter lost mode. Asks y or N for one host. For several, you must type their " +
    "number or give --confirm NUMBER; --yes is not enough. With --wait, the exit code is 0 if locked, 1 or 6 if " +
    "failed, and 7 if still pending.";
  static override endpoints = [hostActionsApi.lock, bulkActionsApi.lock];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    "view-pin": Flags.boolean({ summary: "Show the PIN that unlocks a Mac." }),
    confirm: Flags.string({ summary: "Name of the host, or number of hosts, that will be locked." }),
    ...yesFlag,
    ...hostActionFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --wait --timeout 30m --dry-run",
    "<%= config.bin %> <%= command.id %> --where 'platform = ubuntu' --dry-run",
  ];

  readonly action = "lock";
  #viewPin = false;

  readonly #actions = new HostActions(this, this);

  async run() {
    const { argv, flags } = await this.parse(HostsLock);
    this.#viewPin = flags["view-pin"];
    await this.#actions.act(argv.map(String), flags);
  }

  request(id: number, options: AsShown) {
    return this.call(hostActionsApi.lock, { params: { id }, query: { view_pin: this.#viewPin } }, options);
  }

  requestMany(hosts: ManyHosts, options: AsShown) {
    return this.call(bulkActionsApi.lock, { body: { ...hosts } }, options);
  }

  isOneByOne(): boolean {
    return this.#viewPin;
  }

  async ask(question: string, hosts: readonly Target[]): Promise<void> {
    if (hosts.length === 1 && this.common.confirm === undefined) await this.confirm(question);
    else await askTyped(this, question, hosts);
  }
}
