// Three servers on one Postgres; again and again one of them is killed (kill -9) and replaced, while hosts are locked
// and unlocked, their agents fetch and answer what they are asked, and bulk deletes run as tasks. At the end nothing may
// be lost, done twice or stuck.
//   npm run test:soak -- takeover --kills 100 --hosts 500 --tasks 20 --each 2000
// With `--mutant NAME` (or `all`), the servers have a rule broken on purpose, and the test has to notice it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { fetch } from "undici";
import { type BenchServer, startServe } from "../../bench/support/serve.ts";
import { startServer } from "../../src/server/main.ts";
import { systemClock } from "../../src/server/platform/core/clock.ts";
import type { Services } from "../../src/server/platform/core/context.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { Settings } from "../../src/server/platform/core/settings/settings.ts";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { eq, gte, lte, not, oneOf } from "../../src/server/platform/store/query.ts";
import { tables } from "../../src/server/tables.ts";
import { freePort } from "../support/free-port.ts";
import { hostRow, makeSession } from "../support/make.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";
import { build } from "./support/bed.ts";
import { between, insist, numberOf, pause, Unmet, until } from "./support/check.ts";
import { buildMutant, type Mutant } from "./support/mutant.ts";
import { recordTakeovers, takeoversOf } from "./support/takeovers.ts";

const SERVERS = 3;
const KEY = Buffer.alloc(32, 5).toString("base64");
/** The time between two polls of an agent. */
const POLL_MS = 1_000;
/** A lease ends a minute after its server. */
const SETTLED_MS = 180_000;

/** With so many kills, a run without any takeover of a task is a defect of this test. */
const ENOUGH_KILLS = 20;

const mutants = {
  "leases-never-end": {
    file: "server/platform/core/concurrency/lease.ts",
    from: 'or(isNull("runner_until"), lte("runner_until", clock.iso()),',
    to: 'or(isNull("runner_until"), lte("runner_until", isoAt(0)),',
  },
  "leases-hold-nothing": {
    file: "server/platform/core/concurrency/lease.ts",
    from: 'or(isNull("runner_until"), lte("runner_until", clock.iso()),',
    to: 'or(isNull("runner_until"), lte("runner_until", isoAt(clock.now() + LEASE)),',
  },
  "progress-before-work": {
    file: "server/tasks/carry-out.ts",
    from: [
      "            return store.tx(async (tx) => {",
      "              await hold(tx, { progress, runner_until: isoAt(clock.now() + LEASE) }, wanted);",
    ].join("\n"),
    to: "await store.tx((tx) => hold(tx, { progress }, wanted)); return store.tx(async (tx) => {",
  },
} satisfies Record<string, Mutant>;

export interface TakeoverOptions {
  readonly kills: number;
  /** Each is locked and then unlocked: two operations. */
  readonly hosts: number;
  readonly tasks: number;
  /** Hosts that each task deletes. */
  readonly each: number;
  readonly databaseUrl: string;
  /** The `run.js` of another build. */
  readonly binary?: string;
  readonly onSpawn?: Parameters<typeof startServe>[0]["onSpawn"];
}

interface FilledServer {
  readonly token: string;
  readonly managed: readonly { readonly id: number; readonly key: string }[];
  /** For each task the ids of the hosts that it deletes. */
  readonly doomed: readonly (readonly number[])[];
}

const keyOf = (number: number): string => `managed-agent-key-${number}`;

async function fill({ store, clock }: Services, { hosts, tasks, each }: TakeoverOptions): Promise<FilledServer> {
  const insert = async (count: number): Promise<number[]> => {
    const ids: number[] = [];
    while (ids.length < count) {
      const rows = Array.from({ length: Math.min(1000, count - ids.length) }, () =>
        hostRow(clock.iso(), { platform: "ubuntu" }),
      );
      ids.push(...(await store.hosts.insertMany(rows)).map(({ id }) => id));
    }
    return ids;
  };
  const managed = (await insert(hosts)).map((id, number) => ({ id, key: keyOf(number) }));
  await store.managedAgents.insertMany(
    managed.map(({ id, key }) => ({ id, agent_key_hash: tokenHash(key), enrolled_at: clock.iso() })),
  );
  const doomed: number[][] = [];
  for (let n = 0; n < tasks; n++) doomed.push(await insert(each));
  const at = { created_at: clock.iso(), updated_at: clock.iso() };
  const admin = { ...at, name: "Soak", email: "soak@example.com", global_role: "admin", api_only: true } as const;
  const { id } = await store.users.insert(admin);
  return { managed, doomed, token: await makeSession({ store, clock } as never, id) };
}

/** Three servers on fixed ports, one of which is replaced at a time. */
class Trio {
  readonly #servers: (BenchServer | null)[] = [];
  readonly #ports: number[] = [];
  readonly #start: (port: number) => Promise<BenchServer>;
  #deleteBegun = () => {};
  /** How many requests with the work of a task each server is processing. */
  readonly #deletes = Array.from({ length: SERVERS }, () => 0);
  kills = 0;

  constructor(start: (port: number) => Promise<BenchServer>) {
    this.#start = start;
  }

  async start(): Promise<void> {
    for (let n = 0; n < SERVERS; n++) this.#ports.push(await freePort());
    for (const port of this.#ports) this.#servers.push(await this.#start(port));
  }

  /** A request to one of the servers that run, chosen at random; sent to another one if that one dies meanwhile. */
  async send(path: string, token: string | null, body: unknown): Promise<{ status: number; json: unknown }> {
    for (;;) {
      const running = [...this.#servers.keys()].filter((at) => this.#servers[at] !== null);
      const at = running[Math.floor(between(0, running.length))]!;
      const server = this.#servers[at]!;
      if (path === "/hosts/delete") {
        this.#deletes[at]!++;
        this.#deleteBegun();
      }
      try {
        const reply = await fetch(`${server.url}/api/v1/svc${path}`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(60_000),
        });
        const text = await reply.text();
        if (reply.status < 500) return { status: reply.status, json: text === "" ? null : JSON.parse(text) };
      } catch {
        // The server was killed.
      } finally {
        if (path === "/hosts/delete") this.#deletes[at]!--;
      }
      await pause(50);
    }
  }

  /** Waits a moment, or until a server begins with a task and has done a part of it. */
  async nextKill(): Promise<void> {
    const begun = new Promise<void>((resolve) => {
      this.#deleteBegun = resolve;
    });
    await Promise.race([pause(between(200, 1500)), begun.then(() => pause(between(50, 500)))]);
  }

  /** Kills one that works on a task, if there is one: otherwise most tasks would end undisturbed. */
  async kill(): Promise<void> {
    const working = this.#deletes.findIndex((count) => count > 0);
    const at = working === -1 ? this.kills % SERVERS : working;
    const server = this.#servers[at]!;
    this.#servers[at] = null;
    const gone = new Promise((resolve) => server.process.once("exit", resolve));
    server.process.kill("SIGKILL");
    await gone;
    this.#servers[at] = await this.#start(this.#ports[at]!);
    // Only now, so that what begins after this number of kills is under way when the next one is aimed.
    this.kills++;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server?.stop()));
  }
}

interface AgentTally {
  /** How often each operation was carried out. */
  readonly done: Map<string, number>;
}

/** Fetches and answers what the host is asked, until the test is over. */
async function runAgent(trio: Trio, key: string, tally: AgentTally, isOver: () => boolean): Promise<void> {
  const call = (path: string, body: object = {}) => trio.send(`/agent/${path}`, null, { agent_node_key: key, ...body });
  while (!isOver()) {
    const { json } = await call("config");
    const { notifications } = json as { notifications: { pending_script_execution_ids?: string[] } };
    const [execution_id] = notifications.pending_script_execution_ids ?? [];
    if (execution_id !== undefined && (await call("scripts/request", { execution_id })).status === 200) {
      tally.done.set(execution_id, (tally.done.get(execution_id) ?? 0) + 1);
      await call("scripts/result", { execution_id, output: "", runtime: 1, exit_code: 0 });
    }
    await pause(between(0.5, 1.5) * POLL_MS);
  }
}

export async function takeover(options: TakeoverOptions): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "svc-takeover-"));
  const env = { SVC_DATABASE_URL: options.databaseUrl, SVC_SERVER_PRIVATE_KEY: KEY, SVC_DATABASE_POOL_SIZE: "8" };
  const settings = { data_dir: dir, port: 0, database_url: options.databaseUrl, server_private_key: KEY };
  const log = pino({ level: "silent" });
  const first = await startServer(Settings.parse(settings), log);
  const filled = await fill(first.services, options);
  await first.stop();
  await recordTakeovers(options.databaseUrl);
  const spawn = {
    ...(options.onSpawn === undefined ? {} : { onSpawn: options.onSpawn }),
    ...(options.binary === undefined ? {} : { binary: options.binary }),
  };
  const trio = new Trio((port) =>
    startServe({ dataDir: dir, port, env, admin: false, args: ["--dev-license"], ...spawn }),
  );
  await trio.start();
  try {
    const tally: AgentTally = { done: new Map() };
    let isOver = false;
    const agents = filled.managed.map(({ key }) => runAgent(trio, key, tally, () => isOver));
    const work = Promise.all([
      ...filled.managed.map(({ id }, n) => actTwice(trio, filled.token, id, (n / options.hosts) * options.kills)),
      ...filled.doomed.map((ids, n) => deleteAll(trio, filled.token, ids, (n / options.tasks) * options.kills)),
    ]);
    while (trio.kills < options.kills) {
      await trio.nextKill();
      await trio.kill();
    }
    await work;
    // Only the store: a server of this process would take part in the work.
    const cipher = createCipher(Buffer.from(KEY, "base64"));
    const store = await openPostgres({ tables, url: options.databaseUrl, cipher, log, poolSize: 4 });
    try {
      return await settled({ store, clock: systemClock }, filled, options, trio, tally);
    } finally {
      isOver = true;
      await Promise.all(agents);
      await store.close();
    }
  } finally {
    await trio.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Locks the host after so many kills, and unlocks it when that is done. A lost reply is requested again. */
async function actTwice(trio: Trio, token: string, id: number, afterKills: number): Promise<void> {
  while (trio.kills < afterKills) await pause(100);
  for (const action of ["lock", "unlock"] as const)
    for (;;) {
      const { status, json } = await trio.send(`/hosts/${id}/${action}`, token, {});
      // 409: it was done by a request whose reply was lost; 422: it, or the action before it, is pending.
      if (status === 200 || (status === 409 && action === "lock")) break;
      if (status === 422 && action === "lock") break;
      insist(status === 422 || status === 409, () => `${action}: ${status} ${JSON.stringify(json)}`);
      if (status === 409) break;
      await pause(500);
    }
}

async function deleteAll(trio: Trio, token: string, ids: readonly number[], afterKills: number): Promise<void> {
  while (trio.kills < afterKills) await pause(100);
  const { status, json } = await trio.send("/hosts/delete", token, { ids });
  // 404 and 400: a request whose reply was lost has deleted some of them.
  insist([200, 202, 400, 404].includes(status), () => `delete: ${status} ${JSON.stringify(json)}`);
}

async function settled(
  { store, clock }: Pick<Services, "store" | "clock">,
  { managed, doomed }: FilledServer,
  { hosts, tasks, kills, databaseUrl }: TakeoverOptions,
  trio: Trio,
  { done }: AgentTally,
): Promise<string> {
  const ids = managed.map(({ id }) => id);
  const openOperations = () => store.operations.count(oneOf("state", ["queued", "sent"]));
  const openTasks = () => store.tasks.count(oneOf("state", ["queued", "running"]));
  const settledMs = await until("operations and tasks end", SETTLED_MS, async () => {
    await pause(500);
    return (await openOperations()) + (await openTasks()) === 0;
  });

  const operations = await store.operations.list();
  const wrong = operations.filter(({ state }) => state !== "answered");
  insist(wrong.length === 0, () => `operations that were not answered: ${JSON.stringify(wrong.slice(0, 3))}`);
  const locked = await store.activities.count(eq("type", "locked_host"));
  const unlocked = await store.activities.count(eq("type", "unlocked_host"));
  insist(locked === hosts && unlocked === hosts, `${locked} locks and ${unlocked} unlocks instead of ${hosts} each`);
  insist(operations.length === 2 * hosts, `${operations.length} operations instead of ${2 * hosts}`);
  const states = await store.hostActions.getMany(ids);
  const inconsistent = states.filter((row) => row.locked || row.pending !== "" || row.failure !== "");
  insist(inconsistent.length === 0, () => `hosts that are not unlocked: ${JSON.stringify(inconsistent.slice(0, 3))}`);
  const missed = operations.filter(({ uuid }) => !done.has(uuid));
  insist(missed.length === 0, () => `${missed.length} operations count as answered and were never carried out`);

  const gone = new Set(doomed.flat());
  const left = await store.hosts.count(not(oneOf("id", ids)));
  insist(left === 0, `${left} hosts were not deleted`);
  let deleted = 0;
  const seen = new Set<number>();
  for await (const page of store.activities.pages({ where: eq("type", "deleted_host") }, 2000))
    for (const { details } of page) {
      const id = Number(details?.host_id);
      deleted++;
      insist(gone.has(id) && !seen.has(id), `host ${id} was deleted twice`);
      seen.add(id);
    }
  insist(deleted === gone.size, `${deleted} deletes are recorded instead of ${gone.size}`);
  const failed = await store.tasks.count(not(eq("state", "done")));
  insist(failed === 0, `${failed} tasks have failed`);
  const stale = await store.jobRuns.count(lte("runner_until", new Date(clock.now() - SETTLED_MS).toISOString()));
  insist(stale === 0, `${stale} jobs are stuck`);
  const takeovers = await takeoversOf(databaseUrl);
  insist(takeovers.early === 0, `${takeovers.early} tasks or jobs were taken over from servers that held their leases`);
  insist(takeovers.tasks > 0 || kills < ENOUGH_KILLS, "no task was taken over: this run has shown nothing about them");
  const repeated = await store.operations.count(gte("attempts", 2));
  const again = [...done.values()].filter((count) => count > 1).length;
  return (
    `${trio.kills} servers killed, ${operations.length} operations (${again} fetched again after a lost reply, ${repeated} sent again), ` +
    `${tasks} bulk deletes of ${gone.size} hosts (${await store.tasks.count()} tasks), ${takeovers.tasks} tasks and ` +
    `${takeovers.jobs} jobs taken over by another server: 0 lost, 0 twice, 0 stuck; settled ${settledMs} ms after the last kill`
  );
}

async function runOn(args: SoakArgs, more: Pick<TakeoverOptions, "binary">): Promise<string> {
  const postgres = await startPostgres({ fsync: true, settings: { max_connections: "100" } });
  try {
    return await takeover({
      kills: numberOf(args, "kills", 100),
      hosts: numberOf(args, "hosts", 500),
      tasks: numberOf(args, "tasks", 20),
      each: numberOf(args, "each", 2000),
      databaseUrl: postgres.url(),
      ...more,
    });
  } finally {
    await postgres.destroy();
  }
}

/** Returns how the broken rule was noticed. */
async function noticed(args: SoakArgs, name: string): Promise<string> {
  insist(name in mutants, `there is no mutant ${name}, only ${Object.keys(mutants).join(", ")}`);
  const { binary, remove } = await buildMutant(mutants[name as keyof typeof mutants]);
  try {
    const passed = await runOn(args, { binary }).catch((error: unknown) => {
      if (!(error instanceof Unmet)) throw error;
      return error;
    });
    insist(passed instanceof Unmet, `the servers with ${name} have passed: ${String(passed)}`);
    return `${name}: ${passed.message}`;
  } finally {
    remove();
  }
}

export async function run(args: SoakArgs): Promise<string> {
  const { mutant } = args;
  if (mutant === undefined) {
    await build();
    return runOn(args, {});
  }
  const found: string[] = [];
  for (const name of mutant === "all" ? Object.keys(mutants) : [mutant]) found.push(await noticed(args, name));
  return `noticed. ${found.join("; ")}`;
}
