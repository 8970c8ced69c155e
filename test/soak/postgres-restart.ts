// Postgres is killed and restarted with agents and API writers: the server keeps running, reports it clearly, and loses
// nothing.
//   npm run test:soak -- postgres-restart --cycles 100 --hosts 1000
import type { SoakArgs } from "./main.ts";
import { told } from "./serve-kill.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";
import { Door, enrollBody, everyRow } from "./support/door.ts";
import { endFleet, startFleet } from "./support/fleet.ts";
import { SECRET, Writers } from "./support/writers.ts";

export interface RestartOptions {
  readonly cycles: number;
  readonly hosts: number;
  /** Factor for the agents' intervals. */
  readonly scale?: number;
}

/** R3: the time limit for the server to be healthy after its database is back. */
const HEALTHY_MS = 10_000;

export async function postgresRestarts({ cycles, hosts, scale = 1 }: RestartOptions): Promise<string> {
  const bed = await Bed.make({ engine: "postgres" });
  try {
    const server = await bed.start();
    const door = await Door.open(server);
    await door.caller()("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const fleet = await startFleet(bed, SECRET, { hosts, scale, spread: Math.min(10, hosts / 100) });
    const writers = new Writers(door, { mayVanish: false, everyMs: 20 });
    writers.start();
    let slowest = 0;
    let refusals = 0;
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await pause(between(300, 1_500));
      await bed.postgres!.stop("immediate");
      await until("the server sees that its database is away", 5_000, async () => (await door.health()) === 503);
      const away = performance.now() + between(200, 1_500);
      do refusals += await probeAway(door);
      while (performance.now() < away);
      await bed.postgres!.start();
      slowest = Math.max(slowest, await until("healthy again", HEALTHY_MS, async () => (await door.health()) === 200));
      const before = writers.acknowledged;
      await until("writes are taken again", HEALTHY_MS, () => writers.acknowledged > before);
      insist(bed.alive === server, "another server runs");
    }
    await writers.stop();
    const { report, lines } = await endFleet(bed, fleet);
    const kept = await writers.verify(door.caller(), hosts);
    await inventoryIsSane(door, hosts);
    const errors = server.log().match(/"level":"?(?:50|60|error|fatal)"?[^\n]*/g) ?? [];
    const unexpected = errors.filter((line) => !/StoreUnavailable|cannot be reached|503/.test(line));
    insist(unexpected.length === 0, () => `the log has ${unexpected.length} errors: ${unexpected[0]}`);
    await bed.stop();
    await bed.dbCheck();
    return `${cycles} restarts under ${hosts} agents, healthy at most ${slowest} ms after the database, ${refusals} clear refusals checked, ${told(kept)} and ${lines} log lines acknowledged, 0 lost, 0 doubled, ${report.requests} agent requests, ${report.errors} to try again, 0 node_invalid, statuses ${JSON.stringify(report.statuses)}`;
  } finally {
    await bed.dispose();
  }
}

/** Checks the replies to API callers and agents while the database is unreachable. Returns their number. */
export async function probeAway(door: Door): Promise<number> {
  const [read, write, login] = await Promise.all([
    door.call("GET", "/hosts?per_page=1"),
    door.call("POST", "/teams", { name: "while the database is away" }),
    door.call("POST", "/login", { email: "nobody@example.com", password: "wrong-horse-battery-1" }),
  ]);
  for (const [what, answer] of Object.entries({ read, write, login })) {
    insist(answer !== null, `${what}: no answer`);
    // Only ten sign-ins a minute: after that, the limit refuses them first.
    if (what === "login" && answer.status === 429) continue;
    insist(answer.status === 503, () => `${what}: ${answer.status} ${JSON.stringify(answer.json)}`);
    insist(
      /database/.test(JSON.stringify(answer.json.errors)),
      () => `${what}: not clear: ${JSON.stringify(answer.json)}`,
    );
  }
  // Keys that this server has not seen: only the database knows whether they exist.
  const body = { node_key: `unseen-${Math.random()}`, queries: {}, statuses: {}, log_type: "result", data: [] };
  const agents = ["config", "distributed/read", "distributed/write", "log"];
  const answers = await Promise.all([
    ...agents.map((endpoint) => door.agent(endpoint, body)),
    door.agent("enroll", enrollBody(`away-${Math.random()}`, SECRET)),
  ]);
  for (const [i, answer] of answers.entries()) {
    const what = agents[i] ?? "enroll";
    insist(answer !== null, `${what}: no answer`);
    const isClear = typeof answer.json.error === "string" && !("node_invalid" in answer.json);
    insist(answer.status === 503 && isClear, () => `${what}: ${answer.status} ${JSON.stringify(answer.json)}`);
  }
  await pause(50);
  return answers.length + 3;
}

/** Checks that every simulated host has its complete inventory, once. */
async function inventoryIsSane(door: Door, hosts: number): Promise<void> {
  const rows = await everyRow(door.caller(), "/hosts?populate_software=true", "hosts");
  const simulated = rows.filter((row) => !String(row.uuid).startsWith("uuid-"));
  insist(simulated.length === hosts, `${simulated.length} hosts instead of ${hosts}`);
  for (const row of simulated) {
    const software = (row.software ?? []) as { id: number }[];
    const isWhole = row.hostname !== "" && row.os_version !== "" && row.platform !== "" && software.length > 0;
    insist(isWhole, () => `host ${row.id} is not whole: ${JSON.stringify({ ...row, software: software.length })}`);
    insist(new Set(software.map(({ id }) => id)).size === software.length, `host ${row.id} has software twice`);
  }
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  return postgresRestarts({
    cycles: numberOf(args, "cycles", 100),
    hosts: numberOf(args, "hosts", 1_000),
    scale: numberOf(args, "scale", 1),
  });
}
