import * as Flags from "@oclif/core/flags";
import { hostActionsApi } from "../../api/host-actions.ts";
import { type AsShown, HostActionCommand, hostActionFlags } from "../../cli/features/host-actions.ts";
import type { Target } from "../../cli/features/named-hosts.ts";
import { args } from "../../cli/flags.ts";

export default class HostsWipe extends HostActionCommand {
  static override summary =
    "Erase hosts; hosts that are offline are erased when they come online. This cannot be undone.";
  static override destructive = true;
  static override description =
    "You must type the host's name, or the number of hosts; without a terminal, give it with --confirm. With --wait, the exit " +
    "code is 0 if wiped, 1 or 6 if failed, and 7 if still pending. If the server requires another admin's approval, it is " +
    "requested instead of the wipe (exit code 7).";
  static override endpoints = [hostActionsApi.wipe];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    confirm: Flags.string({ summary: "Name of the host, or number of hosts, that will be erased." }),
    ...hostActionFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --confirm linux-1.example.com",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --dry-run",
  ];

  protected readonly action = "wipe";

  async run() {
    const { argv, flags } = await this.parse(HostsWipe);
    await this.act(argv.map(String), flags);
  }

  protected request(id: number, options: AsShown) {
    return this.call(hostActionsApi.wipe, { params: { id } }, options);
  }

  protected async ask(question: string, hosts: readonly Target[]): Promise<void> {
    await this.askTyped(`${question} This cannot be undone.`, hosts);
  }
}
