// Enrollment of simulated Apple devices with the built server: profile, SCEP, Authenticate and TokenUpdate. CPU time of
// each process and statements of Postgres per device. The devices' keys are made before: they are not the server's work. `npm run bench -- apple-enroll [devices] [lowdb|postgres]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppleFleet } from "../src/simulator/apple/fleet.ts";
import { startPostgres } from "../test/support/postgres-server.ts";
import { turnAppleOn } from "./support/apple.ts";
import { onEngines } from "./support/place.ts";
import { startServe } from "./support/serve.ts";
import { COUNTING, statementsOf } from "./support/statements.ts";

export const run = (args: readonly string[]): Promise<void> =>
  onEngines(args, { lowdb: 1000, postgres: 1000 }, measure);

async function measure(engine: "lowdb" | "postgres", devices: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const postgres = engine === "postgres" ? await startPostgres({ fsync: true, settings: COUNTING }) : null;
  const fleet = new AppleFleet({ devices, pollSeconds: 0, concurrency: 64 });
  try {
    const push = await fleet.listen({ host: "127.0.0.1", port: 0 });
    const server = await startServe({
      dataDir: dir,
      args: ["--dev-license"],
      env: { SVC_APNS_URL: push, ...(postgres ? { SVC_DATABASE_URL: postgres.url() } : {}) },
    });
    const profile = await turnAppleOn(server);
    await fleet.prepare();
    const counter = postgres && (await statementsOf(postgres.url()));
    const before = { cpu: server.usage().cpu, database: postgres?.cpu() ?? 0, simulator: process.cpuUsage() };
    await fleet.enrollAll(profile);
    const ownUsage = process.cpuUsage(before.simulator);
    const { cpu, rss } = server.usage();
    const { enrolled, enrolledPerSecond, errors } = fleet.report();
    const perDevice = (seconds: number) => `${((seconds / devices) * 1000).toFixed(1)} ms`;
    const database = postgres
      ? `, Postgres ${perDevice(postgres.cpu() - before.database)}, ${((await counter!.count()) / devices).toFixed(1)} statements`
      : "";
    console.log(
      `${engine.padEnd(9)} ${enrolled} of ${devices} devices, ${enrolledPerSecond}/s; per device: server ${perDevice(cpu - before.cpu)} of CPU${database}; simulator ${perDevice((ownUsage.user + ownUsage.system) / 1e6)}; RSS ${Math.round(rss / 1e6)} MB, errors ${errors}`,
    );
    if (process.env.BENCH_STATEMENTS) for (const line of await (counter?.all() ?? [])) console.log(line);
    await counter?.close();
    await fleet.stop();
    await server.stop();
  } finally {
    await postgres?.destroy();
    rmSync(dir, { recursive: true, force: true });
  }
}
