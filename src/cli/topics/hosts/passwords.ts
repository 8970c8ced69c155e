// Shared by the commands that give hosts another password: confirmation, the call, and waiting for the outcome.

import type { Host } from "../../../api/hosts/host.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { failed } from "../../errors.ts";
import { dryRunFlag, yesFlag } from "../../flags.ts";
import { timeoutOf, waitFlags, waitFor } from "../../wait.ts";

export const rotateFlags = { ...yesFlag, ...waitFlags, ...dryRunFlag };

export interface HostPassword {
  /** What is changed, and its state among the settings of the host. */
  readonly what: string;
  readonly setting: "recovery_lock_password" | "managed_local_account";
  request(id: number): Promise<unknown>;
}

export class HostPasswords {
  readonly #command: ClientCommand;
  readonly #steps: HostPassword;

  constructor(command: ClientCommand, steps: HostPassword) {
    this.#command = command;
    this.#steps = steps;
  }

  async rotate(hostName: string, flags: Readonly<Record<string, unknown>>): Promise<void> {
    const timeout = timeoutOf(flags);
    const { id, display_name } = await this.#command.host(hostName);
    const name = printable(display_name);
    if (flags["dry-run"] === true)
      this.#command.trying(`change the ${this.#steps.what} of ${name}`, { id, display_name });
    await this.#command.confirm(`Change the ${this.#steps.what} of ${name}?`);
    await this.#steps.request(id);
    if (flags.wait === true) await this.#follow(id, name, timeout);
    const done = flags.wait === true ? "was changed" : "is changed when the Mac is online";
    await this.#command.report(`${name}: the ${this.#steps.what} ${done}`, { id, display_name });
  }

  async #follow(id: number, name: string, timeout: string): Promise<void> {
    const progress = this.#command.progress(`waiting for ${name} ...`);
    let state: NonNullable<Host["mdm"]["os_settings"]>[HostPassword["setting"]];
    const done = async () => {
      const { host } = await this.#command.call(hostsApi.get, { params: { id }, query: { exclude_software: true } });
      state = host.mdm.os_settings?.[this.#steps.setting];
      return state?.status !== "pending" && state?.status !== "verifying";
    };
    const going = () => ({
      what: `the ${this.#steps.what} of ${name} was not changed yet`,
      hint: "It is changed when the Mac is online. `svc hosts get HOST` shows its state.",
    });
    await waitFor(this.#command.io, this.#command.stop.signal, { timeout, done, going }).finally(progress.done);
    if (state?.status !== "verified")
      throw failed(`${name}: ${printable(state?.detail ?? "the Mac has left device management")}`);
  }
}
