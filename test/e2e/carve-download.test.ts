// A carve through the built binary: acknowledged blocks survive kill -9, and `svc carves download` resumes where it was
// interrupted.

import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BenchServer, signIn } from "../../bench/support/serve.ts";
import type { Carve } from "../../src/api/checks/carves.ts";
import { TarContent } from "../../src/simulator/agent/carve-content.ts";
import type { CarveOptions } from "../../src/simulator/agent/world.ts";
import type { Machine } from "../../src/simulator/inventory/machine.ts";
import { hashText, mix } from "../../src/simulator/random.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { killedEngines } from "../support/engines.ts";
import { type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { agentCall, enroll, SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, svc } from "./support/svc.ts";

beforeAll(build);

const BLOCK = 500_000;
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe.each(killedEngines)("a carve on %s", (engine) => {
  const dataDir = newFolder();
  let database: FreshDatabase | null = null;
  beforeAll(async () => {
    if (engine === "postgres") database = await freshDatabase();
  });
  afterAll(() => database?.drop());

  const start = (port?: number) =>
    serve({
      dataDir,
      ...(port === undefined ? {} : { port }),
      env: database ? { SVC_DATABASE_URL: database.url } : {},
    });

  it("survives kills between its blocks, and is downloaded without a difference", async () => {
    let server: BenchServer = await start();
    await withSecret(server);
    const nodeKey = await enroll(server, "carved");
    const content = new TarContent(7, "osquery_carve/var/log/syslog", 2_600_000);
    const count = Math.ceil(content.size / BLOCK);
    const { body: begun } = await agentCall(server, "carve/begin", {
      block_count: count,
      block_size: BLOCK,
      carve_size: content.size,
      carve_id: "guid",
      request_id: "request",
      node_key: nodeKey,
    });
    const upload = async (id: number) => {
      const data = content.read(id * BLOCK, BLOCK).toString("base64");
      const reply = await server.send("/api/v1/qengine/carve/block", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ block_id: id, session_id: begun.session_id, request_id: "request", data }),
      });
      return reply.text();
    };
    const port = Number(new URL(server.url).port);
    for (let id = 0; id < count; id++) {
      expect(JSON.parse(await upload(id))).toEqual({ success: true });
      if (id % 3 !== 1) continue;
      // For the agent, the reply to the last block was lost, so it sends the block again; another one is on its way
      // when the server is killed.
      const dying = id + 1 < count ? upload(id + 1).catch(() => null) : null;
      await server.stop("SIGKILL");
      const told = await dying;
      server = await start(port);
      if (told === null) expect(JSON.parse(await upload(id + 1))).toEqual({ success: true });
      else expect(JSON.parse(told)).toEqual({ success: true });
      id++;
    }

    const call = await signIn(server);
    const { carves } = await call<{ carves: { id: number; max_block: number; error?: string }[] }>("GET", "/carves");
    expect(carves).toMatchObject([{ max_block: count - 1 }]);
    expect(carves[0]).not.toHaveProperty("error");
    const id = String(carves[0]!.id);

    const env = { SVC_SERVER_URL: server.url, SVC_API_TOKEN: await tokenOf(server) };
    const file = join(dataDir, "whole.tar");
    const whole = await svc(["carves", "download", id, "-o", file], env);
    expect(whole.code, whole.stderr).toBe(0);
    expect(sha256(readFileSync(file))).toBe(content.sha256());

    const part = join(dataDir, "part.tar");
    writeFileSync(part, readFileSync(file).subarray(0, 1_234_567));
    const resumed = await svc(["carves", "download", id, "-o", part], env);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(resumed.stderr).toContain("continuing after");
    expect(sha256(readFileSync(part))).toBe(content.sha256());

    writeFileSync(part, randomBytes(1_000_000));
    expect((await svc(["carves", "download", id, "-o", part], env)).code).toBe(5);
    const printed = await svc(["carves", "download", id, "-o", "-"], env);
    expect(printed.code, printed.stderr).toBe(0);
    expect(printed.stdout.length).toBeGreaterThan(1_000_000);
    await server.stop();
  }, 600_000);

  it("is started from the command line, which waits until it is complete or has failed", async () => {
    const server = await start();
    await withSecret(server);
    const carves: CarveOptions = { bytes: 2_999_808, blockSize: BLOCK, fault: "repeat" };
    const fleet = new Simulation({
      serverUrl: server.url,
      enrollSecret: SECRET,
      hosts: 1,
      scale: 0.05,
      softwarePerHost: 5,
      carves,
    });
    fleet.start();
    const env = { SVC_SERVER_URL: server.url, SVC_API_TOKEN: await tokenOf(server) };
    try {
      const machine = await enrolled(fleet);
      const argv = ["carves", "start", machine.hostname, "/etc/**", "--wait", "--timeout", "300s", "-o", "json"];
      const asked = await svc(argv, env);
      expect(asked.code, asked.stderr).toBe(0);
      const [one] = JSON.parse(asked.stdout) as { carve_id: string; state: string; carve: Carve }[];
      expect(one).toMatchObject({ state: "complete", carve: { carve_id: one!.carve_id, max_block: 5 } });
      const file = join(dataDir, "started.tar");
      const { code, stderr } = await svc(["carves", "download", String(one!.carve.id), "-o", file], env);
      expect(code, stderr).toBe(0);
      const seed = mix(machine.seed, hashText("/etc/%%"));
      expect(sha256(readFileSync(file))).toBe(
        new TarContent(seed, `osquery_carve_${one!.carve_id}/etc/file`, 2_999_808).sha256(),
      );

      carves.fault = "size";
      const lying = await svc(argv, env);
      expect(lying.code).toBe(1);
      expect(lying.stdout).toContain("does not match received size");
      carves.fault = "order";
      const unordered = await svc(argv, env);
      expect(unordered.code).toBe(1);
      expect(unordered.stdout).toContain("block_id does not match expected block (0): 1");
      carves.fault = "abort";
      const aborted = await svc(
        argv.map((word) => (word === "300s" ? "4s" : word)),
        env,
      );
      expect(aborted.code, aborted.stderr).toBe(7);
    } finally {
      await fleet.stop();
      await server.stop();
    }
  }, 600_000);
});

async function enrolled(fleet: Simulation): Promise<Machine> {
  await expect.poll(() => fleet.agents[0]?.accepted ?? 0, { message: "the simulated host enrolls" }).toBeGreaterThan(0);
  return fleet.agents[0]!.machine;
}

async function tokenOf(server: BenchServer): Promise<string> {
  const reply = await server.send("/api/v1/svc/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: server.email, password: server.password }),
  });
  return ((await reply.json()) as { token: string }).token;
}
