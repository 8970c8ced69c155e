// An agent's requests, with exactly the bytes that the test specifies, and its secret.
import { setTimeout as pause } from "node:timers/promises";
import { type BenchServer, type Caller, signIn } from "../../../bench/support/serve.ts";

export const SECRET = "end-to-end-enroll-secret";

/** Signs in and sets the enroll secret. */
export async function withSecret(server: BenchServer, secrets: readonly string[] = [SECRET]): Promise<Caller> {
  const call = await signIn(server);
  await call("POST", "/spec/enroll_secret", { spec: { secrets: secrets.map((secret) => ({ secret })) } });
  return call;
}

export interface AgentAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export async function agentCall(
  server: Pick<BenchServer, "send">,
  endpoint: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<AgentAnswer> {
  const reply = await server.send(`/api/v1/qengine/${endpoint}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  return { status: reply.status, body: JSON.parse(await reply.text()) as Record<string, unknown> };
}

export const enrollBody = (name: string, secret = SECRET) => ({
  enroll_secret: secret,
  host_identifier: name,
  platform_type: "9",
  host_details: {
    os_version: { name: "Ubuntu", version: "22.04.4 LTS", major: "22", minor: "4", platform: "ubuntu" },
    osquery_info: { uuid: `uuid-${name}`, instance_id: `instance-${name}`, version: "5.12.1" },
    system_info: { hostname: name, uuid: `uuid-${name}`, hardware_serial: `serial-${name}` },
  },
});

/** Enrolls a host and returns its node key. As agents do, it asks again if the server is busy. */
export async function enroll(server: Pick<BenchServer, "send">, name: string): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { status, body } = await agentCall(server, "enroll", enrollBody(name));
    if (typeof body.node_key === "string") return body.node_key;
    if (status !== 503 || tries === 100) throw new Error(`${name} was not enrolled: ${JSON.stringify(body)}`);
    await pause(200);
  }
}
