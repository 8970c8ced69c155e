// Turning off device management for a host: the confirmation, the call, and what the host's device still has to do.
import type { Host } from "../../api/hosts/host.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import { printable } from "../../text/printable.ts";
import { ClientCommand } from "../client-command.ts";
import { failed } from "../errors.ts";
import { waitFor } from "../wait.ts";

interface TurnOff {
  readonly dryRun: boolean;
  readonly send: () => Promise<unknown>;
  /** How long to wait for the device; null: not at all. */
  readonly timeout?: string | null;
}

export abstract class MdmOffCommand extends ClientCommand {
  protected async turnOff(
    { id, display_name }: Pick<Host, "id" | "display_name">,
    { dryRun, send, timeout = null }: TurnOff,
  ): Promise<void> {
    const name = printable(display_name);
    if (dryRun) this.trying(`turn off device management for ${name}`, { id, display_name });
    await this.confirm(`Turn off device management for ${name}?`);
    await send();
    const { enrollment_status, unenroll_pending } =
      timeout === null ? await this.mdmOf(id) : await this.left(id, name, timeout);
    const what = unenroll_pending
      ? "device management is turned off when the device answers"
      : "device management is off";
    const pending = unenroll_pending ? { unenroll_pending } : {};
    await this.report(`${name}: ${what}`, { id, display_name, enrollment_status, ...pending });
  }

  private async mdmOf(id: number): Promise<Host["mdm"]> {
    return (await this.call(hostsApi.get, { params: { id }, query: { exclude_software: true } })).host.mdm;
  }

  /** Waits until the device has answered. */
  private async left(id: number, name: string, timeout: string): Promise<Host["mdm"]> {
    const progress = this.progress(`waiting for ${name} ...`);
    let mdm = await this.mdmOf(id);
    const done = async () => {
      mdm = await this.mdmOf(id);
      return !mdm.unenroll_pending;
    };
    const going = () => ({
      what: `${name} had not answered`,
      hint: "It is asked when it is online. `svc hosts get HOST` shows its device management, `svc hosts cancel` withdraws the request.",
    });
    await waitFor(this.io, this.stop.signal, { timeout, done, going }).finally(progress.done);
    if (mdm.connected_to_svc) throw failed(`${name} is still managed: it has refused, or the request was withdrawn`);
    return mdm;
  }
}
