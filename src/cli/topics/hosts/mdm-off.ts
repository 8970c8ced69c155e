// Turning off device management for a host: the confirmation, the call, and what the host's device still has to do.

import type { Host } from "../../../api/hosts/host.ts";
import { hostsApi } from "../../../api/inventory/hosts.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { failed } from "../../errors.ts";
import { waitFor } from "../../wait.ts";

interface TurnOff {
  readonly dryRun: boolean;
  readonly send: () => Promise<unknown>;
  /** How long to wait for the device; null: not at all. */
  readonly timeout?: string | null;
}

export async function turnOffMdm(
  command: ClientCommand,
  { id, display_name }: Pick<Host, "id" | "display_name">,
  { dryRun, send, timeout = null }: TurnOff,
): Promise<void> {
  const name = printable(display_name);
  if (dryRun) command.trying(`turn off device management for ${name}`, { id, display_name });
  await command.confirm(`Turn off device management for ${name}?`);
  await send();
  const { enrollment_status, unenroll_pending } =
    timeout === null ? await mdmOf(command, id) : await waitUntilOff(command, id, name, timeout);
  const what = unenroll_pending
    ? "device management is turned off when the device answers"
    : "device management is off";
  const pending = unenroll_pending ? { unenroll_pending } : {};
  await command.report(`${name}: ${what}`, { id, display_name, enrollment_status, ...pending });
}

async function mdmOf(command: ClientCommand, id: number): Promise<Host["mdm"]> {
  return (await command.call(hostsApi.get, { params: { id }, query: { exclude_software: true } })).host.mdm;
}

/** Waits until the device has answered. */
async function waitUntilOff(command: ClientCommand, id: number, name: string, timeout: string): Promise<Host["mdm"]> {
  const progress = command.progress(`waiting for ${name} ...`);
  let mdm = await mdmOf(command, id);
  const done = async () => {
    mdm = await mdmOf(command, id);
    return !mdm.unenroll_pending;
  };
  const going = () => ({
    what: `${name} had not answered`,
    hint: "It is asked when it is online. `svc hosts get HOST` shows its device management, `svc hosts cancel` withdraws the request.",
  });
  await waitFor(command.io, command.stop.signal, { timeout, done, going }).finally(progress.done);
  if (mdm.connected_to_svc) throw failed(`${name} is still managed: it has refused, or the request was withdrawn`);
  return mdm;
}
