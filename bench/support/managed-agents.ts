// Simulated managed agents of benchmarks and soak tests: their calls, and the enrollment of many.
import { setTimeout as pause } from "node:timers/promises";
import type { Reply, Send } from "../../test/edge/agent/agents.ts";
import { SECRET } from "./fill.ts";

export interface ManagedHost {
  readonly id: number;
  readonly key: string;
}

/** Calls below the agents' prefix. */
export type AgentCall = (path: string, body: object) => Promise<Reply>;

export const agentCalls =
  (send: Send): AgentCall =>
  (path, body) =>
    send(`/api/v1/svc/agent${path}`, body, { "content-type": "application/json" });

const RETRY_MS = 200;

/** The parsed reply of a call that has to succeed. It is repeated while the server refuses it because of its load. */
export async function mustCall(call: AgentCall, path: string, body: object): Promise<Reply["json"]> {
  for (;;) {
    const { status, text, json } = await call(path, body);
    if (status < 300) return json;
    if (status !== 503) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`);
    await pause(RETRY_MS);
  }
}

/** Does the work for all items, this many at a time. */
export async function forAll<T>(items: readonly T[], most: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}

const MAX_CONCURRENT = 16;
const BATCH_SIZE = 500;

type Api = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Enrolls hosts with Ubuntu and the first admin's secret. */
export async function enrollManaged(call: AgentCall, api: Api, count: number): Promise<ManagedHost[]> {
  await api("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  const keys = new Map<string, string>();
  const names = Array.from({ length: count }, (_, i) => `M-${i}`);
  await forAll(names, MAX_CONCURRENT, async (name) => {
    const about = { enroll_secret: SECRET, hardware_uuid: name, hostname: name, platform: "ubuntu" };
    keys.set(name, (await mustCall(call, "/enroll", about)).agent_node_key);
  });
  const managedHosts: ManagedHost[] = [];
  for (let page = 0; managedHosts.length < count; page++) {
    const { hosts } = (await api("GET", `/hosts?per_page=${BATCH_SIZE}&page=${page}`)) as {
      hosts: { id: number; uuid: string }[];
    };
    if (hosts.length === 0) throw new Error(`${count - managedHosts.length} hosts are missing`);
    managedHosts.push(...hosts.map(({ id, uuid }) => ({ id, key: keys.get(uuid)! })));
  }
  return managedHosts;
}
