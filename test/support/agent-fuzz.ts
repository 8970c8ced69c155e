// Agents' messages that follow the protocol except in one or two places, with a valid key. The same seed produces the
// same messages.
import { gzipSync } from "node:zlib";
import { enrollment, type Reply, type Send, SimulatedAgent } from "../edge/agent/agents.ts";
import { Dice } from "./request-fuzz.ts";

const Q = "/api/v1/qengine/";
/** The allowed statuses of replies to any message: 503 refuses load and reports an unreachable store. */
const ALLOWED: ReadonlySet<number> = new Set([200, 400, 401, 413, 415, 429, 503]);
/** The number of messages after which another host is served, and the API is checked. */
const LOOK_EVERY = 500;
const FAULTS_MAX = 10;
const FAMILIES = ["linux", "darwin", "windows"] as const;

export interface AgentFuzz {
  readonly send: Send;
  readonly messages: number;
  readonly seed: number;
  /** The number of concurrent messages. */
  readonly together: number;
  /** Throws if the API does not reply correctly. */
  look(): Promise<void>;
}

export interface AgentFuzzReport {
  readonly faults: readonly string[];
  readonly byStatus: Readonly<Record<number, number>>;
}

interface Message {
  readonly endpoint: string;
  readonly body: unknown;
}

export async function fuzzAgents({ send, messages, seed, together, look }: AgentFuzz): Promise<AgentFuzzReport> {
  const dice = new Dice(seed);
  const faults: string[] = [];
  const byStatus: Record<number, number> = {};
  const attackers = FAMILIES.map((family, i) => new SimulatedAgent(send, family, i, 12));
  const bystander = new SimulatedAgent(send, "linux", 99, 12);
  await bystander.enroll();
  await bystander.poll();

  const corpus = new Map<SimulatedAgent, Message[]>();
  const learn = async (agent: SimulatedAgent) => {
    await agent.enroll();
    const work = await agent.read();
    corpus.set(agent, corpus.get(agent) ?? messagesOf(agent, work));
  };
  for (const agent of attackers) await learn(agent);

  const one = async (): Promise<void> => {
    const agent = dice.pick(attackers);
    const { endpoint, body } = dice.pick(corpus.get(agent)!);
    const { bytes, headers } = mutated(
      dice,
      endpoint === "enroll" ? body : { node_key: agent.key, ...(body as object) },
    );
    const reply = await send(Q + endpoint, bytes, headers);
    byStatus[reply.status] = (byStatus[reply.status] ?? 0) + 1;
    const fault = faultOf(reply);
    if (fault) faults.push(`${endpoint}: ${fault}: ${reply.text.slice(0, 200)}\n${shown(bytes)}`);
  };
  for (let sent = 0; sent < messages && faults.length < FAULTS_MAX; sent += together) {
    await Promise.all(Array.from({ length: together }, one));
    if (sent % LOOK_EVERY >= together) continue;
    await serves(send, bystander).catch((error: unknown) => faults.push(`after ${sent}: another host: ${error}`));
    await look().catch((error: unknown) => faults.push(`after ${sent}: ${error}`));
    for (const agent of attackers) await agent.enroll();
  }
  return { faults, byStatus };
}

function messagesOf(agent: SimulatedAgent, work: Awaited<ReturnType<SimulatedAgent["read"]>>): Message[] {
  const { node_key: _key, ...answers } = agent.answers(work);
  const line = {
    name: "pack/Global/q",
    hostIdentifier: "h",
    unixTime: 1_772_366_400,
    epoch: 0,
    counter: 3,
    action: "added",
    columns: { a: "1", b: "\u00e9" },
  };
  const snapshot = { name: "pack/team-1/q", unixTime: "1772366400", action: "snapshot", snapshot: [{ a: "1" }, {}] };
  const status = { severity: "0", filename: "a.cpp", line: "12", message: "m", version: "5.12.1", unixTime: 1 };
  const write: Message = { endpoint: "distributed/write", body: answers };
  const log = (log_type: string, data: unknown[]): Message => ({ endpoint: "log", body: { log_type, data } });
  return [
    write,
    // Most errors are possible in the complete inventory.
    write,
    write,
    log("result", [line, snapshot, line]),
    log("status", [status]),
    { endpoint: "config", body: {} },
    { endpoint: "distributed/read", body: {} },
    // An enrollment of another host: the key of this one must stay valid.
    { endpoint: "enroll", body: enrollment({ host_identifier: `${agent.machine.uuid} again` }) },
  ];
}

/** Another host is served normally. */
async function serves(send: Send, agent: SimulatedAgent): Promise<void> {
  const node_key = agent.key;
  const uptime = { svc_detail_query_uptime: [{ total_seconds: "60" }] };
  const told = await Promise.all([
    send(`${Q}config`, { node_key }),
    send(`${Q}distributed/read`, { node_key }),
    send(`${Q}distributed/write`, { node_key, queries: uptime, statuses: {} }),
    send(`${Q}log`, { node_key, log_type: "result", data: [{ name: "q" }] }),
  ]);
  for (const { status, text, json } of told)
    if (status !== 200 || "error" in json) throw new Error(`${status} ${text.slice(0, 200)}`);
}

function faultOf({ status, text, json }: Reply): string | null {
  if (!ALLOWED.has(status)) return `status ${status}`;
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "the reply is no JSON object";
  if (status === 200) return "error" in json || json.node_invalid === true ? `${status} with an error` : null;
  if (typeof json.error !== "string") return `${status} without an error`;
  if (status !== 401 && "node_invalid" in json) return `${status} takes the key away`;
  return status === 503 && text.includes("internal") ? "an internal error" : null;
}

const shown = (bytes: Buffer): string => bytes.toString("utf8").slice(0, 1000);

const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  "",
  " ",
  "-1",
  "1e999",
  "99999999999999999999999999",
  "0x10",
  "NaN",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\u202e",
  "'; DROP TABLE hosts; --",
  "{}",
  "x".repeat(300),
  "\u{1f600}".repeat(200),
  "9".repeat(5000),
  [],
  {},
  [[]],
  [null],
  [{}],
  [{ "": "" }],
  { toString: "x", length: -1 },
  JSON.parse('{"__proto__":{"a":1},"constructor":"x"}'),
  Array.from({ length: 300 }, (_, i) => ({ name: `n${i}`, version: "1" })),
];
const names = [
  "",
  "__proto__",
  "constructor",
  "toString",
  "a\u0000",
  "\ud800",
  "svc_detail_query_",
  "svc_label_query_-1",
  "svc_label_query_1e400",
  "svc_detail_query_nothing",
  "x".repeat(300),
];

function mutated(dice: Dice, message: unknown): { bytes: Buffer; headers: Record<string, string> } {
  const body = structuredClone(message) as Record<string, unknown>;
  for (let i = dice.int(4); i > 0; i--) changeTree(dice, body);
  let text = JSON.stringify(body);
  if (dice.chance(0.05)) text = text.replace(/"(\d{1,9})"/g, "$1");
  if (dice.chance(0.02)) text = text.replace(/:/, `:${"[".repeat(5000)}`);
  let bytes: Buffer = Buffer.from(text);
  if (dice.chance(0.25)) bytes = changeBytes(dice, bytes);
  const headers: Record<string, string> = {};
  if (dice.chance(0.1)) {
    headers["content-encoding"] = dice.pick(["gzip", "gzip", "gzip", "x-gzip", "br", "GZIP"]);
    bytes = gzipSync(bytes, { level: 1 });
    if (dice.chance(0.3)) bytes = changeBytes(dice, bytes);
  }
  if (dice.chance(0.03)) headers.authorization = dice.pick(["NodeKey ", "NodeKey x", "Bearer x", "NodeKey \u00ff"]);
  return { bytes, headers };
}

function changeTree(dice: Dice, body: Record<string, unknown>): void {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(body);
  if (places.length === 0) return;
  const [node, key] = dice.pick(places);
  // The key stays valid in most messages; otherwise nothing behind the key check is reached.
  if (key === "node_key" && !dice.chance(0.05)) return;
  const kind = dice.int(5);
  if (kind === 0) delete node[key];
  else if (kind === 1) {
    const [other, its] = dice.pick(places);
    if (its !== "node_key" && typeof other[its] !== "object") node[key] = other[its];
  } else if (kind === 2 && !Array.isArray(node)) {
    const value = node[key];
    delete node[key];
    Object.defineProperty(node, dice.pick(names), { value, enumerable: true, configurable: true, writable: true });
  } else if (kind === 3 && Array.isArray(node))
    node.push(...Array.from({ length: dice.int(20) }, () => node[Number(key)]));
  else node[key] = structuredClone(dice.pick(values));
}

export function changeBytes(dice: Dice, bytes: Buffer): Buffer {
  const at = dice.int(bytes.length + 1);
  const length = dice.int(8);
  switch (dice.int(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 2: {
      const noise = Buffer.from(Array.from({ length }, () => dice.int(256)));
      return Buffer.concat([bytes.subarray(0, at), noise, bytes.subarray(at + dice.int(2) * length)]);
    }
    default:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(dice.int(bytes.length + 1))]);
  }
}
