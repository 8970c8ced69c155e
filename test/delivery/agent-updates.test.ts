// Newer agents that the server offers to its own.
import { createHash, createPublicKey, verify } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { type AgentUpdate, updateStatement } from "../../src/agent-wire/update.ts";
import { needAgentFile } from "../support/agent-file.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { SECRET } from "../support/managed.ts";

beforeAll(needAgentFile);

async function call(t: TestApp, path: string, body: object, agent: string): Promise<Record<string, unknown>> {
  const response = await t.raw(`/api/v1/svc/agent${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": agent },
    body: JSON.stringify(body),
  });
  expect([path, response.status]).toEqual([path, 200]);
  return (await response.json()) as Record<string, unknown>;
}

async function enroll(t: TestApp, uuid: string, agent: string) {
  await t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  const reply = await call(t, "/enroll", { enroll_secret: SECRET, hardware_uuid: uuid, platform: "ubuntu" }, agent);
  const config = (version: string) => call(t, "/config", { agent_node_key: reply.agent_node_key }, version);
  return { updateKey: reply.agent_update_key as string | undefined, config };
}

describe.each(bothEngines)("an update of the agent on %s", (engine) => {
  it("is offered to older agents, signed with the key that all get when they enroll", async () => {
    const t = await startApp({ engine });
    const { updateKey, config } = await enroll(t, "U-1", "svc-agent/0.0.1");
    expect((await enroll(t, "U-2", "svc-agent/0.0.1")).updateKey).toBe(updateKey);
    expect(await t.store.agentSigningKeys.count()).toBe(1);

    const { signature, ...update } = (await config("svc-agent/0.0.1")).agent_update as AgentUpdate;
    const key = createPublicKey({ key: Buffer.from(updateKey!, "base64"), format: "der", type: "spki" });
    expect(verify(null, updateStatement(update), key, Buffer.from(signature, "base64"))).toBe(true);
    const file = Buffer.from(await (await t.raw("/enroll/agent.mjs")).arrayBuffer());
    expect(update).toMatchObject({ size: file.length, sha256: createHash("sha256").update(file).digest("hex") });

    for (const agent of [
      `svc-agent/${update.version}`,
      "svc-agent/999.0.0",
      "svc-agent/x",
      "other/0.0.1",
      "svc-agent/",
    ])
      expect([agent, (await config(agent)).agent_update]).toEqual([agent, undefined]);
  });
});

it("is not offered, and no key given, to other agents, and not at all when the setting is off", async () => {
  const t = await startApp();
  const other = await enroll(t, "U-3", "other-agent/1.0");
  expect(other.updateKey).toBe(undefined);
  expect(await t.store.agentSigningKeys.count()).toBe(0);
  const off = await startApp({ settings: { agent_updates: false } });
  const { config } = await enroll(off, "U-4", "svc-agent/0.0.1");
  expect((await config("svc-agent/0.0.1")).agent_update).toBe(undefined);
});
