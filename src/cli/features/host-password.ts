// Shared by the commands that give hosts another password: confirmation, the call, and waiting for the outcome.
import type { Host } from "../../api/hosts/host.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { printable } from "../../text/printable.ts";
import { ClientCommand } from "../client-command.ts";
import { failed } from "../errors.ts";
import { dryRunFlag, yesFlag } from "../flags.ts";
import { timeoutOf, waitFlags, waitFor } from "../wait.ts";

export const rotateFlags = { ...yesFlag, ...waitFlags, ...dryRunFlag };

export abstract class RotateCommand extends ClientCommand {
  /** What is changed, and its state among the settings of the host. */
  protected abstract readonly what: string;
  protected abstract readonly setting: "recovery_lock_password" | "managed_local_account";
  protected abstract request(id: number): Promise<unknown>;

  protected async rotate(hostName: string, flags: Readonly<Record<string, unknown>>): Promise<void> {
    const timeout = timeoutOf(flags);
    const { id, display_name } = await this.host(hostName);
    const name = printable(display_name);
    if (flags["dry-run"] === true) this.trying(`change the ${this.what} of ${name}`, { id, display_name });
    await this.confirm(`Change the ${this.what} of ${name}?`);
    await this.request(id);
    if (flags.wait === true) await this.follow(id, name, timeout);
    const done = flags.wait === true ? "was changed" : "is changed when the Mac is online";
    await this.report(`${name}: the ${this.what} ${done}`, { id, display_name });
  }

  private async follow(id: number, name: string, timeout: string): Promise<void> {
    const progress = this.progress(`waiting for ${name} ...`);
    let state: NonNullable<Host["mdm"]["os_settings"]>[typeof this.setting];
    const done = async () => {
      const { host } = await this.call(hostsApi.get, { params: { id }, query: { exclude_software: true } });
      state = host.mdm.os_settings?.[this.setting];
      return state?.status !== "pending" && state?.status !== "verifying";
    };
    const going = () => ({
      what: `the ${this.what} of ${name} was not changed yet`,
      hint: "It is changed when the Mac is online. `svc hosts get HOST` shows its state.",
    });
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    if (state?.status !== "verified")
      throw failed(`${name}: ${printable(state?.detail ?? "the Mac has left device management")}`);
  }
}
