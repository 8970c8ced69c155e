// kill -9 of the agent at random moments while it runs scripts. No script may run twice, no result may be lost, and
// none may wait forever. The scripts only write a line and sleep.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { cleanEnv } from "../../bench/support/serve.ts";
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

export async function killAgents(kills: number): Promise<KillCounts> {
  const folder = newFolder();
  const runs = join(folder, "runs");
  await writeFile(runs, "");
  const server = await serve();
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
    for (const id of [...open]) {
      const { exit_code } = await call<Result>("GET", `/scripts/results/${id}`);
      if (exit_code === null) continue;
      results.set(id, exit_code);
      open.delete(id);
    }
  };

  for (let i = 0; i < kills; i++) {
    while (open.size < WAITING) await send();
    await pause(400 + Math.random() * 1_200);
    agent.kill("SIGKILL");
    await ended(agent);
    agent = startAgent(server.url, folder, uuid);
    await collect();
  }
  await until(async () => {
    await collect();
    return open.size === 0 ? true : null;
  }).catch(() => {});
  agent.kill("SIGTERM");
  await ended(agent);
  const lines = (await readFile(runs, "utf8")).split("\n").filter((line) => line !== "");
  const interrupted = [...results.values()].filter((code) => code !== 0).length;
  await server.stop();
  return { kills, scripts: sent, interrupted, ranTwice: lines.length - new Set(lines).size, lost: open.size };
}

export async function run({ kills = "200" }: SoakArgs): Promise<string> {
  const counts = await killAgents(Number(kills));
  const text = Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
  if (counts.ranTwice > 0 || counts.lost > 0) throw new Error(text);
  return text;
}
