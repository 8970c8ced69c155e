// kill -9 of the built server with agents and API writers: acknowledged data exists exactly once.
//   npm run test:soak -- serve-kill --engine lowdb|postgres|both --cycles 25 --hosts 100
import { fileURLToPath } from "node:url";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { between, insist, numberOf, pause, until } from "./support/check.ts";
import { Door } from "./support/door.ts";
import { endFleet, startFleet } from "./support/fleet.ts";
import { SECRET, type StoredCounts, Writers } from "./support/writers.ts";

export interface KillOptions {
  readonly engine: "lowdb" | "postgres";
  readonly cycles: number;
  readonly hosts: number;
  /** Maximum number of milliseconds between a start and its kill. */
  readonly upMs?: number;
  /** A server that acknowledges before it writes: the test must detect it. */
  readonly isMutant?: boolean;
}

const faults = fileURLToPath(new URL("./support/faults.mjs", import.meta.url));

export async function killCycles({ engine, cycles, hosts, upMs = 2_500, isMutant }: KillOptions): Promise<string> {
  const env = { NODE_ARGS: `--import ${faults}`, SVC_FAULTS_ACKNOWLEDGE_FIRST: "yes" };
  // Small, so that some kills happen during compactions.
  const bed = await Bed.make({ engine, env: { SVC_SNAPSHOT_BYTES: "1000000", ...(isMutant ? env : {}) } });
  try {
    const first = await bed.start();
    const door = await Door.open(first);
    await door.caller()("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
    const writers = new Writers(door, { mayVanish: true });
    const fleet = await startFleet(bed, SECRET, { hosts, scale: 0.1, spread: 1 });
    writers.start();
    let startingKills = 0;
    for (let cycle = 1; cycle <= cycles; cycle++) {
      // On a busy machine, writers may not have written anything by this time; a kill would then prove nothing.
      const before = writers.progress;
      await pause(between(200, upMs));
      await until("something is acknowledged before the kill", 60_000, () => writers.progress > before);
      await bed.alive.stop("SIGKILL");
      if (Math.random() < 0.25) {
        startingKills++;
        await killWhileStarting(bed);
      }
      await bed.start();
    }
    await writers.stop();
    const { report, lines } = await endFleet(bed, fleet);
    const kept = await writers.verify(door.caller(), hosts);
    insist(kept.reports >= cycles && kept.results >= cycles, "hardly anything was written");
    await bed.stop();
    await bed.dbCheck();
    return `${engine}: ${cycles} kills and ${startingKills} while starting, ${told(kept)} and ${lines} log lines acknowledged, 0 lost, 0 doubled, ${report.connectFailures} refused connections, db check sound`;
  } finally {
    await bed.dispose();
  }
}

async function killWhileStarting(bed: Bed): Promise<void> {
  await bed
    .start((child) => void setTimeout(() => child.kill("SIGKILL"), between(50, 1_500)))
    .then((server) => server.stop("SIGKILL"))
    .catch((error: Error) => {
      if (!error.message.startsWith("serve ended with null")) throw error;
    });
}

export const told = ({ teams, users, hosts, reports, results, secrets }: StoredCounts): string =>
  `${teams} teams, ${users} users, ${hosts} enrollments, ${reports} reports, ${results} query results, ${secrets} changes of secrets`;

/** Cuts a server that acknowledges before it writes; throws if this is not detected. */
async function catchMutant(hosts: number): Promise<string> {
  for (let tries = 1; tries <= 3; tries++) {
    const missed = await killCycles({ engine: "lowdb", cycles: 3, hosts, isMutant: true }).catch((error: Error) => {
      if (!/lost|was acknowledged|does not work|refused|instead of|db check|twice/.test(error.message)) throw error;
      return null;
    });
    if (missed === null) return "mutant caught";
  }
  throw new Error("the mutant that acknowledges before it writes was not caught");
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const { engine = "both" } = args;
  const cycles = numberOf(args, "cycles", 25);
  const hosts = numberOf(args, "hosts", 100);
  const lines: string[] = [];
  for (const one of ["lowdb", "postgres"] as const)
    if (engine === one || engine === "both") lines.push(await killCycles({ engine: one, cycles, hosts }));
  insist(lines.length > 0, "--engine is lowdb, postgres or both");
  if (engine !== "postgres") lines.push(await catchMutant(hosts));
  return lines.join("; ");
}
