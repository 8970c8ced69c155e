// Agents for tests: real bytes to the app or to a socket, and a simulated machine that runs the queries it gets.
import { createServer, Agent as HttpAgent, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { agentHandler } from "../../../src/server/edge/agent/http/node-handler.ts";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { enrollBody } from "../../../src/simulator/agent/enroll-body.ts";
import { DEFAULT_FLAGS } from "../../../src/simulator/agent/world.ts";
import { Machine, type MachineSettings } from "../../../src/simulator/inventory/machine.ts";
import { PLATFORMS } from "../../../src/simulator/inventory/platforms.ts";
import { MachineView } from "../../../src/simulator/inventory/view.ts";
import { answerSql } from "../../../src/simulator/sql/answer.ts";
import type { TestApp } from "../../support/app.ts";

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: the body of whatever endpoint
  readonly json: any;
}

export type Send = (path: string, body: unknown, headers?: Record<string, string>, method?: string) => Promise<Reply>;

const bytesOf = (body: unknown): string | Buffer =>
  typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);

const replyOf = (status: number, text: string, headers: Reply["headers"]): Reply => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status, text, headers, json };
};

/** Calls the app without a socket. */
export const throughApp =
  (t: TestApp): Send =>
  async (path, body, headers = {}, method = "POST") => {
    const bytes = bytesOf(body);
    const init: RequestInit = { method, headers: { "content-type": "application/json", ...headers } };
    if (method !== "GET" && method !== "HEAD") init.body = typeof bytes === "string" ? bytes : new Uint8Array(bytes);
    const response = await t.raw(path, init);
    return replyOf(response.status, await response.text(), Object.fromEntries(response.headers));
  };

/** Calls a listening Node server, on one connection that stays open. */
export async function throughSocket(t: TestApp): Promise<{ send: Send; port: number; close(): Promise<void> }> {
  const handle = agentHandler(t.agent, t.services);
  const server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    if (!handle(req, res)) res.writeHead(418).end("not for agents");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const { send, close } = throughUrl(`http://127.0.0.1:${port}`, 1);
  return {
    send,
    port,
    close: async () => {
      close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Calls a listening server, on this many connections that stay open. */
export function throughUrl(url: string, connections: number): { send: Send; close(): void } {
  const agent = new HttpAgent({ keepAlive: true, maxSockets: connections });
  const send: Send = (path, body, headers = {}, method = "POST") =>
    new Promise((resolve, reject) => {
      const bytes = bytesOf(body);
      const req = httpRequest(
        new URL(path, url),
        { method, agent, headers: { "content-length": Buffer.byteLength(bytes), ...headers } },
        (res) => {
          const chunks: Buffer[] = [];
          res.on("data", (chunk: Buffer) => chunks.push(chunk));
          // The server was killed within its reply.
          res.on("error", reject);
          res.on("end", () =>
            resolve(
              replyOf(res.statusCode ?? 0, Buffer.concat(chunks).toString(), res.headers as Record<string, string>),
            ),
          );
        },
      );
      req.on("error", reject);
      req.end(bytes);
    });
  return { send, close: () => agent.destroy() };
}

export const SECRET = "enroll-me-please";

export async function makeSecret(
  t: Pick<TestApp["services"], "store" | "clock">,
  secret = SECRET,
  teamId: number | null = null,
): Promise<string> {
  await t.store.enrollSecrets.insert({
    created_at: t.clock.iso(),
    team_id: teamId,
    secret,
    secret_hash: tokenHash(secret),
  });
  return secret;
}

export const enrollment = (more: Record<string, unknown> = {}) => ({
  enroll_secret: SECRET,
  host_identifier: "host-1",
  platform_type: "9",
  host_details: {
    os_version: {
      name: "Ubuntu",
      version: "22.04.4 LTS (Jammy Jellyfish)",
      major: "22",
      minor: "4",
      patch: "0",
      platform: "ubuntu",
    },
    osquery_info: { uuid: "UUID-1", instance_id: "instance-1", version: "5.12.1" },
    system_info: {
      hostname: "h1.example",
      uuid: "UUID-1",
      hardware_serial: "S1",
      computer_name: "h1",
      physical_memory: "17179869184",
    },
  },
  ...more,
});

/** Enrolls, and returns the node key. */
export async function enroll(send: Send, more: Record<string, unknown> = {}): Promise<string> {
  const { json, text } = await send("/api/v1/qengine/enroll", enrollment(more));
  if (typeof json?.node_key !== "string") throw new Error(`not enrolled: ${text}`);
  return json.node_key;
}

/** A simulated machine of one platform, with quirks off. */
export class SimulatedAgent {
  readonly machine: Machine;
  readonly view: MachineView;
  readonly send: Send;
  key = "";

  constructor(send: Send, family: "darwin" | "linux" | "windows", index = 0, softwarePerHost = 60) {
    const settings: MachineSettings = {
      seed: 7,
      platforms: PLATFORMS.filter((one) => one.family === family).map((value) => ({ value, weight: 1 })),
      softwarePerHost,
      quirks: false,
      managed: 0,
    };
    this.send = send;
    this.machine = new Machine(settings, index);
    this.view = new MachineView(this.machine, {
      unixTime: Date.parse("2026-03-01T12:00:00Z") / 1000,
      bootedAt: Date.parse("2026-02-01T12:00:00Z") / 1000,
      agentStartedAt: Date.parse("2026-02-01T12:01:00Z") / 1000,
      changes: 0,
      flags: DEFAULT_FLAGS,
      schedule: () => [],
    });
  }

  async enroll(secret = SECRET): Promise<void> {
    const { json, text } = await this.send("/api/v1/qengine/enroll", enrollBody(secret, this.machine.uuid, this.view));
    if (typeof json?.node_key !== "string") throw new Error(`not enrolled: ${text}`);
    this.key = json.node_key;
  }

  async read(): Promise<{ queries: Record<string, string>; discovery: Record<string, string>; accelerate?: number }> {
    return (await this.send("/api/v1/qengine/distributed/read", { node_key: this.key })).json;
  }

  /** The request body with the results of these queries, in the format of the agent's version. */
  answers(work: { queries: Record<string, string>; discovery: Record<string, string> }) {
    const body = {
      node_key: this.key,
      queries: {} as Record<string, unknown>,
      statuses: {} as Record<string, number>,
      messages: {} as Record<string, string>,
      stats: {} as Record<string, unknown>,
    };
    for (const [name, sql] of Object.entries(work.queries)) {
      const guard = work.discovery[name];
      if (guard !== undefined && answerSql(guard, this.view).rows.length === 0) continue;
      const { status, message, rows } = answerSql(sql, this.view);
      body.queries[name] = rows;
      body.statuses[name] = status;
      body.messages[name] = message;
      body.stats[name] = { wall_time_ms: 3, user_time: 1, system_time: 0, memory: 4096 };
    }
    return body;
  }

  /** One poll: reads, runs the queries, and writes if there were any. */
  async poll(): Promise<string[]> {
    const work = await this.read();
    const names = Object.keys(work.queries);
    if (names.length > 0) {
      const { status, text } = await this.send("/api/v1/qengine/distributed/write", this.answers(work));
      if (status !== 200 || text !== "{}") throw new Error(`not accepted: ${status} ${text}`);
    }
    return names;
  }
}
