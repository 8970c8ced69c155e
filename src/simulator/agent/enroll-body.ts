import type { Machine } from "../inventory/machine.ts";
import type { MachineView } from "../inventory/view.ts";
import { textRow } from "../sql/answer.ts";
import type { AgentSettings } from "./world.ts";

const DETAILS = ["os_version", "osquery_info", "system_info", "platform_info"];

export function identifierOf(machine: Machine, by: AgentSettings["hostIdentifier"]): string {
  if (by === "uuid") return machine.uuid;
  return by === "instance" ? machine.instanceId : machine.hostname;
}

/** The body of an enroll request. Tables without rows are left out. */
export function enrollBody(secret: string, identifier: string, view: MachineView): string {
  const details = DETAILS.flatMap((name) => {
    const [row] = view.rowsOf(name);
    return row ? [[name, textRow(row)]] : [];
  });
  return JSON.stringify({
    enroll_secret: secret,
    host_identifier: identifier,
    platform_type: view.machine.platformType,
    host_details: Object.fromEntries(details),
  });
}
