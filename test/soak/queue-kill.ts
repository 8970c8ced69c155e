// kill -9 of the server while many hosts run scripts and install software, on Postgres (or `--engine lowdb`). Nothing that
// was acknowledged may be lost, be done twice, or wait forever.
//   npm run test:soak -- queue-kill --hosts 1000 --kills 100
import { FormData } from "undici";
import {
  type AgentCall,
  agentCalls,
  enrollManaged,
  forAll,
  type ManagedHost,
} from "../../bench/support/managed-agents.ts";
import { throughUrl } from "../edge/agent/agents.ts";
import { type Api, signIn } from "./apple-devices.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";

const SETTLED_MS = 15 * 60_000;
/** Requests at the same time. */
const MAX_CONCURRENT = 50;

/** A managed agent with a journal in memory: it does everything once, and repeats answers until they are acknowledged. */
class Agent {
  readonly id: number;
  readonly #call: AgentCall;
  readonly #key: string;
  readonly #answers = new Map<string, { path: string; body: object }>();
  /** What it has done, and whose answer was acknowledged. */
  readonly done = new Set<string>();
  twice = 0;

  constructor(call: AgentCall, { id, key }: ManagedHost) {
    this.#call = call;
    this.id = id;
    this.#key = key;
  }

  /** Fails while the server is away. */
  async turn(): Promise<void> {
    for (const [uuid, { path, body }] of this.#answers) {
      const { status } = await this.#call(path, { agent_node_key: this.#key, ...body });
      // 404: it was acknowledged before the reply was lost.
      if (status < 300 || status === 404) this.#answers.delete(uuid);
      else throw new Error(`${path}: ${status}`);
    }
    const { json } = await this.#call("/config", { agent_node_key: this.#key });
    const { pending_script_execution_ids: scripts = [], pending_software_installer_ids: installs = [] } =
      (json.notifications ?? {}) as Record<string, string[]>;
    for (const uuid of scripts)
      await this.#do(uuid, "/scripts/request", { execution_id: uuid }, "/scripts/result", {
        execution_id: uuid,
        output: uuid,
        runtime: 1,
        exit_code: 0,
      });
    for (const uuid of installs)
      await this.#do(uuid, "/software_install/details", { install_uuid: uuid }, "/software_install/result", {
        install_uuid: uuid,
        install_script_exit_code: 0,
        install_script_output: uuid,
      });
  }

  async #do(uuid: string, asked: string, question: object, path: string, body: object): Promise<void> {
    const { status } = await this.#call(asked, { agent_node_key: this.#key, ...question });
    if (status === 404) return;
    insist(status === 200, `${asked}: ${status}`);
    // The answer was acknowledged, but the server wants it done again.
    if (this.done.has(uuid) && !this.#answers.has(uuid)) this.twice++;
    this.done.add(uuid);
    this.#answers.set(uuid, { path, body });
  }
}

async function upload(api: Api): Promise<{ scriptId: number; titleId: number }> {
  const script = new FormData();
  script.set("script", new File(["#!/bin/sh\necho ran\n"], "run.sh"));
  const { script_id } = (await api.call("POST", "/scripts", script)) as { script_id: number };
  const software = new FormData();
  software.set("software", new File(["#!/bin/sh\necho installed\n"], "tool.sh"));
  const { software_package } = (await api.call("POST", "/software/package", software)) as {
    software_package: { title_id: number };
  };
  return { scriptId: script_id, titleId: software_package.title_id };
}

interface Progress {
  readonly status: string;
  readonly ran_host_count: number;
  readonly targeted_host_count: number;
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const hosts = numberOf(args, "hosts", 1_000);
  const kills = numberOf(args, "kills", 100);
  const rounds = Math.max(1, Math.round(kills / 10));
  const bed = await Bed.make({ engine: args.engine === "lowdb" ? "lowdb" : "postgres" });
  const stop = new AbortController();
  const { send, close } = throughUrl(bed.url, MAX_CONCURRENT);
  const call = agentCalls(send);
  try {
    await bed.start();
    const api = await signIn(bed);
    const agents = (await enrollManaged(call, api.call, hosts)).map((host) => new Agent(call, host));
    const { scriptId, titleId } = await upload(api);
    const workers = Array.from({ length: 16 }, (_, first) => working(agents, first, stop.signal));
    const acknowledged = { batches: [] as string[], installs: 0 };
    for (let round = 0; round < rounds; round++) {
      await ask(api, agents, { scriptId, titleId }, acknowledged);
      const until = Math.round(((round + 1) * kills) / rounds);
      for (let killed = Math.round((round * kills) / rounds); killed < until; killed++) {
        await pause(between(50, 1_500));
        const { process } = bed.alive;
        const ended = new Promise((resolve) => process.once("exit", resolve));
        process.kill("SIGKILL");
        await ended;
        await bed.start();
      }
      await settled(api, agents, acknowledged.batches, titleId);
    }
    stop.abort();
    await Promise.all(workers);
    await check(api, agents, acknowledged, titleId);
    await bed.stop();
    await bed.dbCheck();
    const twice = agents.reduce((sum, agent) => sum + agent.twice, 0);
    insist(twice === 0, `${twice} were done twice`);
    return `${kills} kills under ${hosts} hosts: ${acknowledged.batches.length * hosts} scripts and ${acknowledged.installs} installs acknowledged, all done once`;
  } finally {
    stop.abort();
    close();
    await bed.dispose();
  }
}

/** Every sixteenth agent, in turns. */
async function working(agents: readonly Agent[], first: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (let at = first; at < agents.length && !signal.aborted; at += 16)
      await agents[at]!.turn().catch(() => pause(20));
    await pause(10);
  }
}

async function ask(
  api: Api,
  agents: readonly Agent[],
  { scriptId, titleId }: { scriptId: number; titleId: number },
  acknowledged: { batches: string[]; installs: number },
): Promise<void> {
  const { batch_execution_id } = (await api.call("POST", "/scripts/run/batch", {
    script_id: scriptId,
    host_ids: agents.map(({ id }) => id),
  })) as { batch_execution_id: string };
  acknowledged.batches.push(batch_execution_id);
  await forAll(agents, MAX_CONCURRENT, async ({ id }) => {
    await api.call("POST", `/hosts/${id}/software/${titleId}/install`);
    acknowledged.installs++;
  });
}

async function settled(api: Api, agents: readonly Agent[], batches: readonly string[], titleId: number): Promise<void> {
  await until("everything is done", SETTLED_MS, async () => {
    await pause(500);
    const batch = (await api.call("GET", `/scripts/batch/${batches.at(-1)}`)) as Progress;
    const filter = `software_status=pending_install&team_id=0&software_title_id=${titleId}`;
    const pending = (await api.call("GET", `/hosts/count?${filter}`)) as { count: number };
    return batch.status === "finished" && batch.ran_host_count === agents.length && pending.count === 0;
  });
}

/** What the server shows in the end. */
async function check(
  api: Api,
  agents: readonly Agent[],
  { batches, installs }: { batches: readonly string[]; installs: number },
  titleId: number,
): Promise<void> {
  for (const uuid of batches) {
    const { ran_host_count, targeted_host_count } = (await api.call("GET", `/scripts/batch/${uuid}`)) as Progress;
    insist(ran_host_count === targeted_host_count, `batch ${uuid}: ${ran_host_count} of ${targeted_host_count} ran`);
  }
  const done = agents.reduce((sum, agent) => sum + agent.done.size, 0);
  insist(done === batches.length * agents.length + installs, `${done} were done`);
  const { software_title } = (await api.call("GET", `/software/titles/${titleId}?team_id=0`)) as {
    software_title: { software_package: { status: Record<string, number> } };
  };
  const { installed } = software_title.software_package.status;
  insist(installed === agents.length, `${installed} hosts have installed the package`);
}
