// An older agent as one file, which replaces itself by the one that the built server hands out.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleAgent } from "../../scripts/bundle-agent.mjs";
import { sha256Of, UpdateFolder } from "../../src/agent/updates/folder.ts";
import { updateStatement } from "../../src/agent-wire/update.ts";
import { root } from "../support/cli.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, watch } from "./support/svc.ts";

let old: string;
beforeAll(async () => {
  await build();
  old = join(newFolder(), "agent.mjs");
  await bundleAgent(root, old, "0.0.1");
}, 240_000);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const UUID = "0A0A0A0A-0000-4000-8000-00000000000F";

/** One start of the service. */
function start(
  serverUrl: string,
  stateDir: string,
): { agent: ChildProcess; output: () => string; ended: Promise<void> } {
  const words = ["run", "--server-url", serverUrl, "--state-dir", stateDir, "--no-osqueryd", "--hardware-uuid", UUID];
  const agent = spawn(process.execPath, [old, ...words], {
    env: { ...process.env, SVC_ENROLL_SECRET: SECRET, SVC_AGENT_SCALE: "0.02" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  watch(agent);
  let text = "";
  agent.stderr!.on("data", (part) => {
    text += part;
  });
  return { agent, output: () => text, ended: new Promise((done) => agent.once("exit", () => done())) };
}

/** Starts it again whenever it ends, as a service manager does. */
function keepRunning(serverUrl: string, stateDir: string) {
  const outputs: (() => string)[] = [];
  let isOver = false;
  let last: ReturnType<typeof start>;
  const all = (async () => {
    while (!isOver) {
      last = start(serverUrl, stateDir);
      outputs.push(last.output);
      await last.ended;
      await pause(20);
    }
  })();
  ends.push(async () => {
    isOver = true;
    last.agent.kill("SIGKILL");
    await all;
  });
  return { kill: () => last.agent.kill("SIGKILL"), output: () => outputs.map((one) => one()).join("") };
}

const stateOf = (stateDir: string) => new UpdateFolder(stateDir).read();

describe("an older agent", () => {
  it("replaces itself by the server's version, also if it is killed all the time", async () => {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
    const server = await serve();
    const call = await withSecret(server);
    const stateDir = newFolder();
    const service = keepRunning(server.url, stateDir);
    for (let kills = 0; kills < 12; kills++) {
      await pause(100 + kills * 130);
      // A version that was started three times without a check-in counts as one that crashes.
      if (((await stateOf(stateDir)).trial?.starts ?? 0) < 2) service.kill();
    }
    const hosts = async () => (await call<{ hosts: { agent_version: string; uuid: string }[] }>("GET", "/hosts")).hosts;
    await expect
      .poll(async () => (await stateOf(stateDir)).current?.version ?? service.output().slice(-2000), {
        timeout: 90_000,
      })
      .toBe(version);
    // The new version reports itself with its first inventory.
    const [host] = (await call<{ hosts: { id: number }[] }>("GET", "/hosts")).hosts;
    await call("POST", `/hosts/${host!.id}/refetch`);
    await expect
      .poll(hosts, { timeout: 60_000 })
      .toEqual([expect.objectContaining({ uuid: UUID, agent_version: version })]);
    expect((await stateOf(stateDir)).trial).toBe(null);
  }, 240_000);

  it.each([
    ["crashes", "process.exit(1);\n", "ended 3 times before it had checked in"],
    ["cannot be read", "this is no program\n", "ended 3 times before it had checked in"],
    ["hangs", "for (;;);\n", "did not check in"],
  ])(
    "goes back from a version that %s",
    async (_, text, reason) => {
      const stateDir = newFolder();
      const { url } = await standIn(text);
      const service = keepRunning(url, stateDir);
      await expect.poll(service.output, { timeout: 90_000 }).toContain(`update to 0.0.2 ${reason}: going back`);
      await expect
        .poll(() => service.output().split("going back")[1], { timeout: 30_000 })
        .toContain("svc agent 0.0.1 runs");
      expect(await stateOf(stateDir)).toMatchObject({ current: null, trial: null, failed: { version: "0.0.2" } });
    },
    240_000,
  );

  it("keeps the key that it got first, and refuses what another one has signed", async () => {
    const stateDir = newFolder();
    const first = await standIn("process.exit(1);\n", { offers: false });
    const service = keepRunning(first.url, stateDir);
    const keyOf = async () =>
      JSON.parse(await readFile(join(stateDir, "agent.json"), "utf8").catch(() => "{}")).update_key as string | null;
    await expect.poll(keyOf, { timeout: 60_000 }).toBe(first.key);
    // Somebody else at the same address, who makes it enroll again.
    await first.close();
    const second = await standIn("process.exit(1);\n", { port: Number(new URL(first.url).port) });
    await expect.poll(service.output, { timeout: 60_000 }).toContain("the server's key has not signed it");
    expect(second.downloads()).toBe(0);
    expect(await keyOf()).toBe(first.key);
  }, 240_000);
});

/** The part of a server that updates need. */
async function standIn(text: string, { offers = true, port = 0 } = {}) {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const file = Buffer.from(text);
  const statement = { version: "0.0.2", sha256: sha256Of(file), size: file.length };
  const update = { ...statement, signature: sign(null, updateStatement(statement), privateKey).toString("base64") };
  const known = new Set<string>();
  let downloads = 0;
  const server: Server = createServer(async (request, reply) => {
    let body = "";
    for await (const part of request) body += part;
    const path = request.url!;
    const send = (status: number, value: object) =>
      reply.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path === "/enroll/agent.mjs") {
      downloads++;
      return reply.end(file);
    }
    const given = JSON.parse(body || "{}") as { agent_node_key?: string };
    if (path.endsWith("/agent/enroll")) {
      known.add(`${key}-node`);
      return send(200, { agent_node_key: `${key}-node`, agent_update_key: key });
    }
    if (path.includes("/agent/") && request.method === "POST" && !known.has(given.agent_node_key ?? ""))
      return send(401, { message: "unknown key" });
    if (path.endsWith("/agent/config"))
      return send(200, { notifications: {}, ...(offers ? { agent_update: update } : {}) });
    return send(200, path.includes("qengine") ? { node_key: "k", queries: {} } : {});
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key, close, downloads: () => downloads };
}
