// The complete sequence: the command requests the action, the server stores it, a simulated managed agent fetches the
// script and sends the result, and the command reports it.
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { BenchServer, Caller } from "../../bench/support/serve.ts";
import type { SimulationOptions } from "../../src/simulator/options.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, serve, svc } from "./support/svc.ts";

beforeAll(build);

interface ShownHost {
  readonly id: number;
  readonly hostname: string;
  readonly scripts_enabled: boolean | null;
  readonly mdm: { device_status: string; pending_action: string; action_failure?: string };
}

let server: BenchServer;
let call: Caller;
let running: Simulation[] = [];

beforeEach(async () => {
  server = await serve({ args: ["--dev-license"] });
  call = await withSecret(server);
});
afterEach(async () => {
  for (const simulation of running) await simulation.stop();
  running = [];
  await server.stop();
});

/** Agents fifty times as fast as real ones: they fetch their configuration every 0.6 s. */
async function simulate(options: Partial<SimulationOptions> = {}): Promise<ShownHost[]> {
  const given = {
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts: 4,
    platforms: ["ubuntu"],
    scale: 0.02,
    managed: 1,
  };
  const simulation = new Simulation({ ...given, softwarePerHost: 5, ...options });
  running.push(simulation);
  simulation.start();
  await expect
    .poll(async () => (await hosts()).filter(({ scripts_enabled }) => scripts_enabled !== null).length, {
      timeout: 60_000,
      interval: 500,
    })
    .toBe(given.hosts);
  return (await hosts()).filter(({ scripts_enabled }) => scripts_enabled);
}
const hosts = async () => (await call<{ hosts: ShownHost[] }>("GET", "/hosts?order_key=id")).hosts;

async function cli(...argv: string[]) {
  const { token } = await signedIn();
  return svc(argv, { SVC_SERVER_URL: server.url, SVC_API_TOKEN: token });
}

async function signedIn(): Promise<{ token: string }> {
  const { email, password } = server;
  const reply = await server.send("/api/v1/svc/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  return (await reply.json()) as { token: string };
}

it("locks, unlocks and wipes hosts and waits for each", { timeout: 600_000 }, async () => {
  const [one, two] = await simulate();
  const wait = ["--wait", "--timeout", "60s", "-o", "json"];
  const locked = await cli("hosts", "lock", one!.hostname, two!.hostname, "--confirm", "2", ...wait);
  expect(locked, locked.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(locked.stdout)).toMatchObject([
    { host: expect.any(String), outcome: "done", device_status: "locked", pending_action: "" },
    { outcome: "done", device_status: "locked" },
  ]);
  expect(running[0]!.managed.filter(({ state }) => state === "locked")).toHaveLength(2);

  const unlocked = await cli("hosts", "unlock", two!.hostname, ...wait);
  expect(unlocked, unlocked.stderr).toMatchObject({ code: 0 });
  expect(JSON.parse(unlocked.stdout)).toMatchObject([{ outcome: "done", device_status: "unlocked" }]);

  // Locked hosts too: a lost host need not be unlocked before it is wiped.
  for (const [number, host] of [one!, two!].entries()) {
    const wiped = await cli("hosts", "wipe", host.hostname, "--confirm", host.hostname, ...wait);
    expect(wiped, wiped.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(wiped.stdout)).toMatchObject([{ outcome: "done", device_status: "wiped" }]);
    expect(running[0]!.managed.filter(({ state }) => state === "wiped")).toHaveLength(number + 1);
  }

  const refused = await cli("hosts", "wipe", two!.hostname, "--confirm", two!.hostname, ...wait);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("wiped");
  const report = await running[0]!.stop();
  expect(report).toMatchObject({ scriptsRun: 5, lostResults: 0 });
});

it("fails with the output of a host's script, and exits with 7 for an offline host", { timeout: 600_000 }, async () => {
  const [one, two] = await simulate({ scriptFailures: 1 });
  const failed = await cli("hosts", "lock", one!.hostname, "--yes", "--wait", "--timeout", "60s");
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain("the lock script ended with exit code 1: FAILED: simulated failure");
  expect((await hosts())[0]!.mdm).toMatchObject({ device_status: "unlocked", pending_action: "" });

  await running[0]!.stop();
  const away = await cli("hosts", "lock", two!.hostname, "--yes", "--wait", "--timeout", "2s");
  expect(away.code).toBe(7);
  expect(away.stderr).toContain("still pending");
  const upcoming = await call<{ activities: { uuid: string }[] }>("GET", `/hosts/${two!.id}/activities/upcoming`);
  expect(upcoming.activities).toHaveLength(1);
});
