import * as Flags from "@oclif/core/flags";
import { hostActionsApi } from "../../api/host-actions.ts";
import { args, yesFlag } from "../../cli/flags.ts";
import { type AsShown, HostActionCommand, hostActionFlags, type Target } from "../../cli/host-actions.ts";

export default class HostsLock extends HostActionCommand {
  static override summary = "Lock hosts as soon as they are online.";
  static override destructive = true;
  static override description =
    "One host asks y or N. Several ask to type their number, or take --confirm NUMBER; --yes is not enough for them. " +
    "With --wait the exit code tells how it went: 0 locked, 1 or 6 failed, 7 still pending.";
  static override endpoints = [hostActionsApi.lock];
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
    "<%= config.bin %> <%= command.id %> mac-1.example.com linux-1.example.com --wait --timeout 30m --dry-run",
  ];

  protected readonly action = "lock";
  private viewPin = false;

  async run() {
    const { argv, flags } = await this.parse(HostsLock);
    this.viewPin = flags["view-pin"];
    await this.act(argv.map(String), flags);
  }

  protected request(id: number, options: AsShown) {
    return this.call(hostActionsApi.lock, { params: { id }, query: { view_pin: this.viewPin } }, options);
  }

  protected async ask(question: string, hosts: readonly Target[]): Promise<void> {
    if (hosts.length === 1 && this.common.confirm === undefined) await this.confirm(question);
    else await this.askTyped(question, hosts);
  }
}
