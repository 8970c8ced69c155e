// What is known on this machine of its agent.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { readObject } from "../state/files.ts";
import { isActive } from "./apply.ts";
import { type ServicePlatform, statusCommand, unitFile } from "./plan.ts";

interface AgentStatus {
  readonly installed: boolean;
  readonly running: boolean;
  readonly server_url: string | null;
  readonly hardware_uuid: string | null;
  /** Another machine with this UUID has the host of that UUID, and this one is a host of its own. */
  readonly shares_hardware_uuid: boolean;
  readonly enrolled_for_queries: boolean;
  readonly enrolled_for_scripts: boolean;
  /** The host's own page. Who has this address may see and do there what the page offers, for up to an hour. */
  readonly own_page: string | null;
}

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Reading the state folder needs the rights of its owner. */
export async function agentStatus(platform: ServicePlatform, stateDir: string): Promise<AgentStatus> {
  const identity = await readObject(join(stateDir, "agent.json"));
  const server_url = text(identity?.server_url);
  const token = text((await readFile(join(stateDir, "device-token"), "utf8").catch(() => "")).trim());
  return {
    installed: (await stat(unitFile(platform)).catch(() => null)) !== null,
    running: await isActive(statusCommand(platform)),
    server_url,
    hardware_uuid: text(identity?.hardware_uuid),
    shares_hardware_uuid: identity?.is_separate === true,
    enrolled_for_queries: text(identity?.node_key) !== null,
    enrolled_for_scripts: text(identity?.agent_node_key) !== null,
    own_page: server_url === null || token === null ? null : `${server_url}/device/${token}`,
  };
}
