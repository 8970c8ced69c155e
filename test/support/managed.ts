// A managed agent for tests: it only uses the agents' protocol.
import { expect } from "vitest";
import { managedAgentApi } from "../../src/api/delivery/managed-agent.ts";
import type { TestApp } from "./app.ts";

export const SECRET = "managed-secret";

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the body of whatever endpoint
  readonly json: any;
  readonly headers: Headers;
}

const all = Object.values(managedAgentApi);

/** One call below the agents' prefix. A success must match the declared reply, without additional keys. */
export async function agentCall(t: TestApp, path: string, body: unknown, method = "POST"): Promise<Answer> {
  const response = await t.raw(path.startsWith("/api/") ? path : `/api/v1/svc/agent${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(method === "HEAD" ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text === "" ? undefined : JSON.parse(text);
  const known = all.find((one) => one.method === method && one.path === `/agent${path.split("?")[0]}`);
  if (known && response.status === 200 && method !== "HEAD" && "strict" in known.response)
    expect(known.response.strict().safeParse(json), `${path}: ${text}`).toMatchObject({ success: true });
  return { status: response.status, json, headers: response.headers };
}

let machines = 0;

export class ManagedAgent {
  readonly t: TestApp;
  readonly uuid: string;
  readonly details: Record<string, string>;
  key = "";

  constructor(t: TestApp, details: Record<string, string> = {}) {
    this.t = t;
    const number = ++machines;
    this.uuid = details.hardware_uuid ?? `MACHINE-${number}`;
    this.details = {
      hardware_uuid: this.uuid,
      hardware_serial: `SERIAL-M${number}`,
      hostname: `managed-${number}.example.com`,
      platform: "ubuntu",
      computer_name: `managed-${number}`,
      hardware_model: "Model M",
      ...details,
    };
  }

  async enroll(secret = SECRET): Promise<this> {
    const { status, json } = await agentCall(this.t, "/enroll", { enroll_secret: secret, ...this.details });
    expect(status, JSON.stringify(json)).toBe(200);
    this.key = json.agent_node_key;
    return this;
  }

  call(path: string, body: Record<string, unknown> = {}, method = "POST"): Promise<Answer> {
    return agentCall(this.t, path, { agent_node_key: this.key, ...body }, method);
  }

  async host() {
    const host = await this.t.store.hosts.first({ where: { op: "eq", column: "uuid", value: this.uuid } });
    return host!;
  }

  async pending(): Promise<string[]> {
    const { json } = await this.call("/config");
    return json.notifications.pending_script_execution_ids ?? [];
  }

  /** Fetches the first pending script, and reports its result. Returns its text. */
  async runScript(exit_code = 0, output = "done"): Promise<string> {
    const [execution_id] = await this.pending();
    const { json } = await this.call("/scripts/request", { execution_id });
    await this.call("/scripts/result", { execution_id, output, runtime: 2, exit_code, timeout: 300 });
    return json.script_contents;
  }
}

export const addSecret = (t: TestApp) => t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });

/** A host with an enrolled managed agent. */
export async function makeManaged(t: TestApp, details: Record<string, string> = {}): Promise<ManagedAgent> {
  await addSecret(t);
  return new ManagedAgent(t, details).enroll();
}
