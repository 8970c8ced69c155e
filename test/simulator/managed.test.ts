// The managed agents of a simulation, with a server that a test controls.
import { afterEach, beforeEach, expect, it } from "vitest";
import type { SimulationOptions } from "../../src/simulator/options.ts";
import { nothingLost, renderReport } from "../../src/simulator/report.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { FakeServer, type Script } from "./fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await FakeServer.start();
});
afterEach(() => server.close());

const path = (name: string) => `/api/v1/svc/agent/${name}`;
const LOCK = "#!/bin/sh\n# Locks this computer. Runs as root.\n";
const WIPE = "#!/bin/sh\n# Erases this computer for good. Runs as root.\n";

/** A server that issues keys, and lists these scripts until it has their results. */
function playing(scripts: Record<string, string>, more: Script = () => undefined): Script {
  return (seen, nth) => {
    const own = more(seen, nth);
    if (own !== undefined) return own;
    if (seen.endpoint === path("enroll")) return `{"agent_node_key":"agent-key-${nth}"}`;
    if (seen.endpoint === path("config")) {
      const done = server.of(path("scripts/result")).map(({ body }) => body.execution_id);
      const open = Object.keys(scripts).filter((id) => !done.includes(id));
      return JSON.stringify({ notifications: open.length > 0 ? { pending_script_execution_ids: open } : {} });
    }
    if (seen.endpoint === path("scripts/request"))
      return JSON.stringify({ script_contents: scripts[String(seen.body.execution_id)], timeout: 300 });
    return undefined;
  };
}

function simulation(options: Partial<SimulationOptions> = {}): Simulation {
  const given = { serverUrl: server.url, enrollSecret: "s", hosts: 1, spread: 0, managed: 1, platforms: ["ubuntu"] };
  const made = new Simulation(
    { ...given, statusLinesPerHour: 0, ...options },
    { wheel: server.wheel, wallClock: server.wallClock },
  );
  made.start();
  server.wheel.stop();
  return made;
}
async function stop(made: Simulation) {
  const report = made.stop();
  let over = false;
  void report.finally(() => (over = true));
  await server.until(() => over);
  return report;
}

it("enroll beside the stock agents, poll every 30 s, and send a new token every hour", async () => {
  server.script = playing({});
  const made = simulation({ hosts: 20, managed: 0.5, softwarePerHost: 1 });
  await server.until(() => server.of("enroll").length === 20);
  await server.pass(5_000);
  const enrolled = server.of(path("enroll"));
  expect(enrolled.length).toBe(made.managed.length);
  expect(enrolled.length).toBeGreaterThan(4);
  expect(enrolled.length).toBeLessThan(16);
  const stock = server.of("enroll").map(({ body }) => body.host_identifier);
  for (const { body } of enrolled) {
    expect(body).toMatchObject({ enroll_secret: "s", hardware_uuid: expect.any(String), platform: "ubuntu" });
    expect(stock).toContain(body.qengine_identifier);
  }
  const before = server.of(path("config")).length;
  await server.pass(60_000);
  expect(server.of(path("config")).length - before).toBe(2 * enrolled.length);
  await stop(made);
});

it("send their own token, and a new one each hour", async () => {
  server.script = playing({});
  const made = simulation({ softwarePerHost: 1, flags: { distributed_interval: "600", config_refresh: "600" } });
  await server.until(() => server.of(path("device_token")).length === 1);
  await server.pass(3_601_000, 1_000);
  const tokens = server.of(path("device_token")).map(({ body }) => body.device_auth_token);
  expect(tokens).toHaveLength(2);
  expect(new Set(tokens).size).toBe(2);
  await stop(made);
});

it("run each script once, and report the result", async () => {
  server.script = playing({ one: LOCK });
  const made = simulation();
  await server.until(() => server.of(path("scripts/result")).length === 1);
  await server.pass(65_000);
  expect(server.of(path("scripts/request"))).toHaveLength(1);
  expect(server.of(path("scripts/result")).map(({ body }) => body)).toEqual([
    { agent_node_key: "agent-key-1", execution_id: "one", exit_code: 0, output: "locked", runtime: 1, timeout: 300 },
  ]);
  expect(made.managed[0]!.state).toBe("locked");
  const report = await stop(made);
  expect(report).toMatchObject({ scriptsRun: 1, lostResults: 0 });
  expect(renderReport(report)).toMatch(/managed config +\d+[\s\S]*scripts +1 run/);
});

it("do not pretend that other scripts have printed something", async () => {
  server.script = playing({ one: "#!/bin/sh\necho hello\n" });
  const made = simulation();
  await server.until(() => server.of(path("scripts/result")).length === 1);
  expect(server.of(path("scripts/result"))[0]!.body).toMatchObject({
    exit_code: 0,
    output: "simulated: the script was not run",
  });
  expect(made.managed[0]!.state).toBe("unlocked");
  await stop(made);
});

it("fail with the given share, and then do not change the state", async () => {
  server.script = playing({ one: LOCK });
  const made = simulation({ scriptFailures: 1 });
  await server.until(() => server.of(path("scripts/result")).length === 1);
  expect(server.of(path("scripts/result"))[0]!.body).toMatchObject({ exit_code: 1 });
  expect(made.managed[0]!.state).toBe("unlocked");
  await stop(made);
});

it("report -2 if scripts are disabled", async () => {
  server.script = playing({});
  const probe = simulation({ hosts: 60, softwarePerHost: 1 });
  await server.until(() => probe.managed.length === 60);
  const without = probe.agents.findIndex(({ machine }) => !machine.runsScripts);
  expect(without).toBeGreaterThan(-1);
  const uuid = probe.agents[without]!.machine.uuid;
  await stop(probe);
  server.seen.length = 0;
  let key = "";
  server.script = playing({ one: LOCK }, ({ endpoint, body }, nth) => {
    if (endpoint !== path("enroll")) return undefined;
    if (body.hardware_uuid === uuid) key = `agent-key-${nth}`;
    return undefined;
  });
  const made = simulation({ hosts: 60, softwarePerHost: 1 });
  const of = () => server.of(path("scripts/result")).find(({ body }) => body.agent_node_key === key);
  await server.until(() => key !== "" && of() !== undefined);
  expect(of()!.body).toMatchObject({ exit_code: -2 });
  await stop(made);
});

it("enroll again when their key is refused", async () => {
  server.script = playing({}, ({ endpoint, body }) =>
    endpoint === path("config") && body.agent_node_key === "agent-key-1" ? { status: 401, body: "{}" } : undefined,
  );
  const made = simulation();
  await server.until(() => server.of(path("enroll")).length === 2);
  await server.until(() => server.of(path("config")).some(({ body }) => body.agent_node_key === "agent-key-2"));
  await stop(made);
});

it("keep a result until it is accepted, and report if it never was", async () => {
  let refuse = true;
  server.script = playing({ one: LOCK }, ({ endpoint }) =>
    refuse && endpoint === path("scripts/result") ? { status: 503, body: "{}" } : undefined,
  );
  const made = simulation();
  await server.until(() => server.of(path("scripts/result")).length >= 1);
  expect(made.managed[0]!.undelivered).toBe(1);
  refuse = false;
  server.seen.splice(0);
  await server.until(() => made.managed[0]!.undelivered === 0);
  await stop(made);

  refuse = true;
  server.seen.splice(0);
  const other = simulation();
  await server.until(() => server.of(path("scripts/result")).length >= 1);
  const report = await stop(other);
  expect(report.lostResults).toBe(1);
  expect(nothingLost(report)).toBe(false);
});

it("stop after their machine was wiped", async () => {
  server.script = playing({ one: WIPE });
  const made = simulation();
  await server.until(() => made.managed[0]?.state === "wiped" && made.managed[0].undelivered === 0);
  await server.pass(1_000);
  const before = server.seen.length;
  await server.pass(120_000);
  expect(server.seen.length).toBe(before);
  await stop(made);
});

/** A server that lists an installation until it has its result. */
function offering(details: object): Script {
  return playing({}, (seen) => {
    if (seen.endpoint === path("config")) {
      const isOpen = server.of(path("software_install/result")).length === 0;
      return JSON.stringify({ notifications: isOpen ? { pending_software_installer_ids: ["install-1"] } : {} });
    }
    if (seen.endpoint === path("software_install/details")) return JSON.stringify({ installer_id: 7, ...details });
    return undefined;
  });
}
const installed = () => server.of(path("software_install/result")).map(({ body }) => body);

it("install software once, from what they were given to the result", async () => {
  server.script = offering({ pre_install_condition: "SELECT 1", post_install_script: "check" });
  const made = simulation();
  await server.until(() => installed().length === 1);
  await server.pass(65_000);
  expect(server.of(path("software_install/details"))).toHaveLength(1);
  expect(installed()).toEqual([
    {
      agent_node_key: "agent-key-1",
      install_uuid: "install-1",
      pre_install_condition_output: '[{"1":"1"}]',
      install_script_exit_code: 0,
      install_script_output: "installed",
      post_install_script_exit_code: 0,
      post_install_script_output: "checked",
    },
  ]);
  const report = await stop(made);
  expect(report).toMatchObject({ installsRun: 1, installsFailed: 0, lostResults: 0 });
  expect(renderReport(report)).toMatch(/installations +1 reported, 0 of them failed/);
});

it.each([
  ["of the installation", {}, { install_script_exit_code: 1, post_install_script_exit_code: null }],
  [
    "of the script after it, which is rolled back",
    { post_install_script: "check", uninstall_script: "remove" },
    {
      install_script_exit_code: 0,
      post_install_script_exit_code: 1,
      post_install_script_output: expect.stringContaining("rolled back"),
    },
  ],
])("report the given share of failures: %s", async (_what, details, result) => {
  server.script = offering(details);
  const made = simulation({ installFailures: 1 });
  await server.until(() => installed().length === 1);
  expect(installed()[0]).toMatchObject(result);
  expect(await stop(made)).toMatchObject({ installsRun: 1, installsFailed: 1 });
});

it("never report the given share of installations, nor ask for them again", async () => {
  server.script = offering({});
  const made = simulation({ installTimeouts: 1 });
  await server.until(() => server.of(path("software_install/package?alt=media")).length === 1);
  await server.pass(125_000);
  expect(installed()).toEqual([]);
  expect(server.of(path("software_install/details"))).toHaveLength(1);
  await stop(made);
});

it("ask for the progress of their setup every 5 s, until the server has it no more", async () => {
  const asked = () => server.of(path("setup_experience/status")).length;
  server.script = playing({}, (seen) => {
    if (seen.endpoint === path("setup_experience/init")) return '{"result":{"enabled":true}}';
    if (seen.endpoint === path("setup_experience/status")) return '{"setup_experience_results":{"software":[]}}';
    if (seen.endpoint !== path("config")) return undefined;
    return JSON.stringify({ notifications: asked() < 3 ? { run_setup_experience: true } : {} });
  });
  const made = simulation();
  await server.until(() => asked() === 3);
  await server.pass(65_000);
  expect(asked()).toBe(3);
  expect(server.of(path("setup_experience/init"))).toHaveLength(1);
  await stop(made);
});
