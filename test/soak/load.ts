// Simulated agents at real intervals with the built server: no failures, and no acknowledged line is lost or
// duplicated.
//   npm run test:soak -- load --engine postgres --hosts 10000 --minutes 10 --overload
// Right after an enrollment no inventory is due for an hour; with `--details 5m` it is due earlier, so that there are
// writes to measure.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { enrollHosts, SECRET } from "../../bench/support/fill.ts";
import { type BenchServer, signIn, startServe } from "../../bench/support/serve.ts";
import { checkLedger } from "../../src/simulator/ledger.ts";
import type { SimulationReport } from "../../src/simulator/report.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import { startPostgres } from "../support/postgres-server.ts";
import type { SoakArgs } from "./main.ts";

interface Phase {
  readonly name: string;
  readonly factor: number;
  readonly seconds: number;
  /** Whether the server may refuse agents temporarily. */
  readonly mayShed?: boolean;
}

export async function run(args: SoakArgs): Promise<string> {
  const hosts = Number(args.hosts ?? 2_000);
  const minutes = Number(args.minutes ?? 2);
  const lines: string[] = [];
  for (const engine of (args.engine ?? "lowdb,postgres").split(",")) {
    const phases: Phase[] = [{ name: "real intervals", factor: 1, seconds: minutes * 60 }];
    if (args.overload) {
      phases.push({ name: "three times", factor: 3, seconds: 60 });
      phases.push({ name: "six times", factor: 6, seconds: 60, mayShed: true });
      phases.push({ name: "30 s after", factor: 1, seconds: 30 });
    }
    lines.push(
      ...(await loadEngine(engine, hosts, phases, { tls: args.tls !== undefined, details: args.details ?? "1h" })),
    );
  }
  return `\n${lines.join("\n")}`;
}

async function loadEngine(
  engine: string,
  hosts: number,
  phases: readonly Phase[],
  { tls, details }: { tls: boolean; details: string },
): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), "svc-load-"));
  const postgres = engine === "postgres" ? await startPostgres() : null;
  try {
    const serve = () =>
      startServe({
        dataDir: dir,
        args: [...(tls ? ["--tls-self-signed"] : []), "--detail-interval", details, "--label-interval", details],
        env: postgres ? { SVC_DATABASE_URL: postgres.url() } : {},
      });
    const identityFile = join(dir, "agents.json");
    const enrolling = await serve();
    const enrolled = await enrollHosts(enrolling, hosts, { identityFile });
    expect(
      enrolled.errors === 0 && enrolled.enrolled === hosts,
      `${enrolled.enrolled} of ${hosts} enrolled, ${enrolled.errors} errors: ${enrolled.recentErrors.join("; ")}`,
    );
    expect((await enrolling.stop()) === 0, "the server did not stop cleanly after enrolling");
    const server = await serve();
    const lines = [`${engine}: ${hosts} hosts enrolled at ${enrolled.enrollment!.perSecond.toFixed(0)}/s`];
    for (const phase of phases) lines.push(await runPhase(server, { dir, engine, hosts, identityFile, tls }, phase));
    const { count } = await (await signIn(server))<{ count: number }>("GET", "/hosts/count");
    expect(count === hosts, `${count} hosts instead of ${hosts}`);
    expect((await server.stop()) === 0, "the server did not stop cleanly");
    return lines;
  } finally {
    await postgres?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runPhase(
  server: BenchServer,
  {
    dir,
    engine,
    hosts,
    identityFile,
    tls,
  }: { dir: string; engine: string; hosts: number; identityFile: string; tls: boolean },
  phase: Phase,
): Promise<string> {
  const ledgerFile = join(dir, `ledger-${phase.name.replaceAll(" ", "-")}`);
  const simulation = new Simulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts,
    identityFile,
    ledgerFile,
    softwarePerHost: 300,
    logLinesPerMinute: 1,
    rateFactor: phase.factor,
    spread: Math.min(60, phase.seconds / 4),
    ...(tls ? { tls: { insecure: true } } : {}),
  });
  const cpuBefore = server.usage().cpu;
  const started = Date.now();
  simulation.start();
  await new Promise((resolve) => setTimeout(resolve, phase.seconds * 1000));
  const cpu = (server.usage().cpu - cpuBefore) / ((Date.now() - started) / 1000);
  const { rss } = server.usage();
  const report = await simulation.stop();
  const ledger = await checkLedger(ledgerFile, logFiles(dir));
  expect(ledger.lost.length === 0, `${engine}, ${phase.name}: ${ledger.lost.length} acknowledged lines are lost`);
  expect(
    ledger.doubled.length === 0,
    `${engine}, ${phase.name}: ${ledger.doubled.length} lines stand more often than they were sent`,
  );
  expect(report.nodeInvalid === 0, `${engine}, ${phase.name}: ${report.nodeInvalid} node keys refused`);
  if (!phase.mayShed)
    expect(
      report.errors === 0,
      `${engine}, ${phase.name}: ${report.errors} failed requests: ${report.recentErrors.join("; ")}`,
    );
  return `  ${phase.name.padEnd(15)} ${summary(report)}, ${ledger.acknowledged} lines, 0 lost, 0 doubled, server ${cpu.toFixed(2)} of ${cpus().length} cores, RSS ${Math.round(rss / 1e6)} MB`;
}

const logFiles = (dir: string): string[] => readdirSync(join(dir, "logs")).map((name) => join(dir, "logs", name));

function summary(report: SimulationReport): string {
  const { distributed_read: read, distributed_write: write, log, config } = report.byEndpoint;
  const p99 = `p99 ms: read ${read.p99}, config ${config.p99}, log ${log.p99}, write ${write.p99}`;
  return `${report.requestsPerSecond.toFixed(0)} requests/s, ${report.errors} errors, ${p99}`;
}

function expect(held: boolean, otherwise: string): void {
  if (!held) throw new Error(otherwise);
}
