// Turning off device management for a host: the confirmation, the call, and what the host's device still has to do.
import type { Host } from "../../api/host.ts";
import { hostsApi } from "../../api/hosts.ts";
import { printable } from "../../text/printable.ts";
import { ClientCommand } from "../client-command.ts";

export abstract class MdmOffCommand extends ClientCommand {
  protected async turnOff(
    { id, display_name }: Pick<Host, "id" | "display_name">,
    { dryRun, send }: { readonly dryRun: boolean; readonly send: () => Promise<unknown> },
  ): Promise<void> {
    const name = printable(display_name);
    if (dryRun) this.trying(`turn off device management for ${name}`, { id, display_name });
    await this.confirm(`Turn off device management for ${name}?`);
    await send();
    const { host } = await this.call(hostsApi.get, { params: { id }, query: { exclude_software: true } });
    const { enrollment_status, unenroll_pending } = host.mdm;
    const what = unenroll_pending
      ? "device management is turned off when the device answers"
      : "device management is off";
    const pending = unenroll_pending ? { unenroll_pending } : {};
    await this.report(`${name}: ${what}`, { id, display_name, enrollment_status, ...pending });
  }
}
