// Machines that were cloned with their agent: two real agents with copies of one state folder.
import { type ChildProcess, spawn } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { type BenchServer, type Caller, cleanEnv } from "../../bench/support/serve.ts";
import { root } from "../support/cli.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, watch } from "./support/svc.ts";

beforeAll(build);

const UUID = "0A0A0A0A-0000-4000-8000-000000000001";
/** Seconds in which a machine and its copy notice each other: the time that a last request may take, and some polls. */
const NOTICED = { timeout: 40_000, interval: 250 };

interface Machine {
  readonly stateDir: string;
  readonly log: () => string;
  readonly ended: Promise<number | null>;
  stop(): Promise<unknown>;
}

function start(server: BenchServer, stateDir: string, uuid: string, ...flags: string[]): Machine {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(root, "bin/run.js"), "agent", "run", "--state-dir", stateDir, "--hardware-uuid", uuid, ...flags],
    { env: { ...cleanEnv(), SVC_SERVER_URL: server.url, SVC_ENROLL_SECRET: SECRET, SVC_AGENT_SCALE: "0.05" } },
  );
  watch(child);
  let log = "";
  child.stderr!.on("data", (part) => {
    log += String(part);
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const stop = () => {
    child.kill("SIGTERM");
    return ended;
  };
  return { stateDir, log: () => log, ended, stop };
}

/** A copy of the disk would lack what exists only while the agent runs. */
async function copyOf({ stateDir }: Machine): Promise<string> {
  const copy = join(newFolder(), "state");
  await cp(stateDir, copy, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  return copy;
}

const keysOf = async ({ stateDir }: Machine) => JSON.parse(await readFile(join(stateDir, "agent.json"), "utf8"));

interface HostOf {
  readonly id: number;
  readonly uuid: string;
  readonly last_enrolled_at: string;
  readonly scripts_enabled: boolean | null;
  readonly agent_conflict?: object;
}

const hostsOf = async (call: Caller) => (await call<{ hosts: HostOf[] }>("GET", "/hosts")).hosts;
const hostOf = async (call: Caller, id: number) => (await call<{ host: HostOf }>("GET", `/hosts/${id}`)).host;

async function started(flags: readonly string[] = []) {
  const server = await serve({});
  const call = await withSecret(server);
  const original = start(server, join(newFolder(), "state"), UUID, ...flags);
  await expect.poll(async () => (await hostsOf(call))[0]?.scripts_enabled, NOTICED).toBe(true);
  const [host] = await hostsOf(call);
  await hasEnrolled(original);
  return { server, call, original, host: host! };
}

/** Resolves when the machine has enrolled for both: queries, and scripts. */
const hasEnrolled = (machine: Machine) =>
  expect
    .poll(() => keysOf(machine), NOTICED)
    .toMatchObject({ node_key: expect.any(String), agent_node_key: expect.any(String) });

/** The state folder of the agent that runs a script for the host. */
async function whoRuns(call: Caller, hostId: number): Promise<string> {
  const script_contents = "#!/bin/sh\ntr '\\0' ' ' < /proc/$PPID/cmdline\n";
  const { output } = await call<{ output: string }>("POST", "/scripts/run/sync", { host_id: hostId, script_contents });
  return /--state-dir (\S+)/.exec(output)![1]!;
}

it.each([
  ["", []],
  [", with signed requests", ["--sign-requests"]],
])(
  "become two hosts if they have one hardware UUID, and stay so over restarts%s",
  async (_, flags) => {
    const { server, call, original, host } = await started(flags);
    const { agent_node_key: key } = await keysOf(original);
    const copy = start(server, await copyOf(original), UUID, ...flags);
    await expect.poll(async () => (await hostsOf(call)).length, NOTICED).toBe(2);
    await expect.poll(async () => (await hostsOf(call)).every((one) => one.scripts_enabled), NOTICED).toBe(true);
    const other = (await hostsOf(call)).find(({ id }) => id !== host.id)!;
    expect(other.uuid).toBe(UUID);
    expect(copy.log()).toContain("another machine with this hardware UUID");
    expect(await keysOf(original)).toMatchObject({ agent_node_key: key, is_separate: false });
    expect(await keysOf(copy)).toMatchObject({ is_separate: true });
    expect(await hostOf(call, host.id)).toMatchObject({ agent_conflict: { address: "127.0.0.1" } });

    await hasEnrolled(original);
    await hasEnrolled(copy);
    const before = await hostsOf(call);
    await copy.stop();
    await original.stop();
    const originalAgain = start(server, original.stateDir, UUID, ...flags);
    const copyAgain = start(server, copy.stateDir, UUID, ...flags);
    expect(await whoRuns(call, host.id)).toBe(original.stateDir);
    expect(await whoRuns(call, other.id)).toBe(copy.stateDir);
    // Longer than the time after which one of them would have noticed the other.
    await pause(13_000);
    const times = (hosts: HostOf[]) => hosts.map(({ id, last_enrolled_at }) => [id, last_enrolled_at]);
    expect(times(await hostsOf(call))).toEqual(times(before));
    for (const one of [originalAgain, copyAgain]) expect(one.log()).not.toContain("warn");
  },
  180_000,
);

it("become two hosts at once if their hardware UUIDs differ", async () => {
  const { server, call, original, host } = await started();
  const copy = start(server, await copyOf(original), "0A0A0A0A-0000-4000-8000-000000000002");
  await expect.poll(async () => (await hostsOf(call)).length, NOTICED).toBe(2);
  await expect.poll(async () => (await hostsOf(call)).every((one) => one.scripts_enabled), NOTICED).toBe(true);
  expect(copy.log()).toContain(`the keys are those of another machine (${UUID})`);
  expect(await hostOf(call, host.id)).not.toHaveProperty("agent_conflict");
  expect(await whoRuns(call, host.id)).toBe(original.stateDir);
  expect(original.log()).not.toContain("warn");
}, 120_000);

it("are not what a second agent with the same state folder is: it does not start", async () => {
  const { server, original } = await started();
  const second = start(server, original.stateDir, UUID);
  expect(await second.ended).toBe(1);
  expect(second.log()).toContain("another agent uses the state folder");
}, 60_000);
