// kill -9 of the agent at random moments while it runs scripts and installs. None may run twice, no result may be lost,
// and none may wait forever. They only write a line and sleep.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { FormData } from "undici";
import { type BenchServer, cleanEnv, tokenOf } from "../../bench/support/serve.ts";
import { SECRET, withSecret } from "../e2e/support/agents.ts";
import { newFolder, serve, watch } from "../e2e/support/svc.ts";
import { root } from "../support/cli.ts";
import type { SoakArgs } from "./main.ts";

const WAITING = 4;
/** Seconds until the last results have to be there. */
const PATIENCE_S = 120;

interface Result {
  readonly exit_code: number | null;
}

export interface KillCounts {
  readonly kills: number;
  readonly scripts: number;
  readonly installs: number;
  readonly interrupted: number;
  readonly ranTwice: number;
  readonly lost: number;
}

function startAgent(serverUrl: string, folder: string, uuid: string): ChildProcess {
  const child = spawn(
    process.execPath,
    [join(root, "bin/run.js"), "agent", "run", "--state-dir", join(folder, "state"), "--hardware-uuid", uuid],
    {
      stdio: "ignore",
      env: { ...cleanEnv(), SVC_SERVER_URL: serverUrl, SVC_ENROLL_SECRET: SECRET, SVC_AGENT_SCALE: "0.01" },
    },
  );
  watch(child);
  return child;
}

const ended = (child: ChildProcess) => new Promise<void>((resolve) => child.once("exit", () => resolve()));

/** A package that is a script, which writes the id of its installation. Returns the id of its title. */
async function uploadPackage(server: BenchServer, runs: string): Promise<number> {
  const form = new FormData();
  const script = `#!/bin/sh\necho "install $SVC_SCRIPT_EXECUTION" >> ${runs}\nsleep 0.2\n`;
  form.set("software", new File([script], "tool.sh"));
  const reply = await server.send("/api/v1/svc/software/package", {
    method: "POST",
    headers: { authorization: `Bearer ${await tokenOf(server)}` },
    body: form,
  });
  const { software_package } = (await reply.json()) as { software_package: { title_id: number } };
  return software_package.title_id;
}

export async function killAgents(kills: number): Promise<KillCounts> {
  const folder = newFolder();
  const runs = join(folder, "runs");
  await writeFile(runs, "");
  const server = await serve({ args: ["--dev-license"] });
  const call = await withSecret(server);
  const uuid = randomUUID();
  let agent = startAgent(server.url, folder, uuid);
  const until = async <T>(what: () => Promise<T | null>): Promise<T> => {
    for (const end = Date.now() + PATIENCE_S * 1000; Date.now() < end; await pause(50)) {
      const found = await what();
      if (found !== null) return found;
    }
    throw new Error("the agent did not do in time what was expected of it");
  };
  const hostId = await until(async () => {
    const { hosts } = await call<{ hosts: { id: number; scripts_enabled: boolean | null }[] }>("GET", "/hosts");
    return hosts[0]?.scripts_enabled === true ? hosts[0].id : null;
  });

  const titleId = await uploadPackage(server, runs);
  let installs = 0;
  let failedInstalls = 0;
  let openInstall: string | null = null;
  /** One at a time: the server refuses a second one of the same software. */
  const install = async () => {
    await call("POST", `/hosts/${hostId}/software/${titleId}/install`);
    installs++;
    const { activities } = await call<{ activities: { details: { install_uuid?: string } }[] }>(
      "GET",
      `/hosts/${hostId}/activities/upcoming?per_page=100`,
    );
    openInstall = activities.find(({ details }) => details.install_uuid !== undefined)?.details.install_uuid ?? null;
  };
  const collectInstall = async () => {
    if (openInstall === null) return;
    const { status } = await call<{ status: string }>("GET", `/software/install/${openInstall}/results`);
    if (/pending/.test(status)) return;
    if (status !== "installed") failedInstalls++;
    openInstall = null;
  };

  const results = new Map<string, number>();
  const open = new Set<string>();
  let sent = 0;
  const send = async () => {
    const contents = `#!/bin/sh\necho ${++sent} >> ${runs}\nsleep 0.${Math.floor(Math.random() * 4)}\n`;
    const { execution_id } = await call<{ execution_id: string }>("POST", "/scripts/run", {
      host_id: hostId,
      script_contents: contents,
    });
    open.add(execution_id);
  };
  const collect = async () => {
    await collectInstall();
    for (const id of [...open]) {
      const { exit_code } = await call<Result>("GET", `/scripts/results/${id}`);
      if (exit_code === null) continue;
      results.set(id, exit_code);
      open.delete(id);
    }
  };

  for (let i = 0; i < kills; i++) {
    while (open.size < WAITING) await send();
    if (openInstall === null) await install();
    await pause(400 + Math.random() * 1_200);
    agent.kill("SIGKILL");
    await ended(agent);
    agent = startAgent(server.url, folder, uuid);
    await collect();
  }
  await until(async () => {
    await collect();
    return open.size === 0 && openInstall === null ? true : null;
  }).catch(() => {});
  agent.kill("SIGTERM");
  await ended(agent);
  const lines = (await readFile(runs, "utf8")).split("\n").filter((line) => line !== "");
  const interrupted = [...results.values()].filter((code) => code !== 0).length + failedInstalls;
  await server.stop();
  const lost = open.size + (openInstall === null ? 0 : 1);
  return { kills, scripts: sent, installs, interrupted, ranTwice: lines.length - new Set(lines).size, lost };
}

export async function run({ kills = "200" }: SoakArgs): Promise<string> {
  const counts = await killAgents(Number(kills));
  const text = Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
  if (counts.ranTwice > 0 || counts.lost > 0) throw new Error(text);
  return text;
}
