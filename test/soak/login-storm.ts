// Many people sign in at once while agents poll: neither polls nor writes wait for password hashes.
//   npm run test:soak -- login-storm --engine lowdb|postgres|both --hosts 2000 --seconds 30 --rate 50
// The server accepts 300 sign-ins a minute and refuses the rest without hashing: the first part of a storm is the most
// expensive, and is reported separately.

import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { enrollHosts, SECRET } from "../../bench/support/fill.ts";
import { Histogram } from "../../src/simulator/histogram.ts";
import { Simulation } from "../../src/simulator/simulation.ts";
import type { SoakArgs } from "./main.ts";
import { Bed, build } from "./support/bed.ts";
import { insist, numberOf, pause } from "./support/check.ts";
import { Door } from "./support/door.ts";

/** Requirement P9. */
const POLL_P99_MS = 100;
const WRITE_P99_MS = 50;
const USERS = 20;
const PASSWORD = "correct-horse-battery-3";

export interface StormOptions {
  readonly engine: "lowdb" | "postgres";
  readonly hosts: number;
  readonly seconds: number;
  /** Sign-ins per second. */
  readonly rate: number;
}

interface Storm {
  readonly statuses: Map<number, number>;
  readonly latency: Histogram;
}

export async function loginStorm({ engine, hosts, seconds, rate }: StormOptions): Promise<string> {
  // The sign-ins come from many addresses, as in reality; each address and account has its own limit.
  const bed = await Bed.make({ engine, env: { SVC_TRUSTED_PROXIES: "127.0.0.0/8" } });
  try {
    const server = await bed.start();
    const identityFile = join(bed.notes, "agents.json");
    const enrolled = await enrollHosts(server, hosts, { identityFile, software: 50 });
    insist(enrolled.enrolled === hosts, () => `${enrolled.enrolled} enrolled: ${enrolled.recentErrors.join("; ")}`);
    const door = await Door.open(server);
    for (let i = 0; i < USERS; i++) {
      const user = { name: `Somebody ${i}`, email: `user-${i}@example.com`, password: PASSWORD };
      const made = await door.call("POST", "/users/admin", { ...user, global_role: "observer" });
      insist(made?.status === 200, () => `a user was not made: ${JSON.stringify(made)}`);
    }
    const simulation = new Simulation({
      serverUrl: bed.url,
      enrollSecret: SECRET,
      hosts,
      identityFile,
      softwarePerHost: 50,
      logLinesPerMinute: 1,
      spread: 10,
    });
    const { endpoints } = simulation.stats;
    const polls = () => p99(endpoints.distributed_read.latency);
    const usual = () => p95(endpoints.distributed_read.latency);
    let isOver = false;
    // Agents and API writers run the whole time; the same work is compared with and without sign-ins.
    simulation.start();
    await pause(2_000);
    simulation.stats.resetLatencies();
    const quietCommits = new Histogram();
    const quietWriting = writeUntil(() => isOver, door, quietCommits, "calm");
    await pause(12_000);
    isOver = true;
    await quietWriting;
    const before = { poll: polls(), p95: usual(), commit: p95(quietCommits) };
    simulation.stats.resetLatencies();
    const commits = new Histogram();
    isOver = false;
    const writing = writeUntil(() => isOver, door, commits, "stormy");
    const storm: Storm = { statuses: new Map(), latency: new Histogram() };
    // The most expensive part: as many sign-ins as the server accepts in a minute.
    const hard = Math.min(seconds, 300 / rate);
    await storming(door, storm, 0, hard, rate);
    const during = {
      poll: polls(),
      p95: usual(),
      commit: p99(commits),
      p95Commit: p95(commits),
      ok: storm.statuses.get(200) ?? 0,
    };
    if (seconds > hard) await storming(door, storm, hard * rate, seconds - hard, rate);
    isOver = true;
    await writing;
    const told = {
      poll: polls(),
      p95: usual(),
      commit: p99(commits),
      p95Commit: p95(commits),
      agentWrite: endpoints.distributed_write.latency.quantile(0.99),
    };
    const report = await simulation.stop();
    const byStatus = Object.fromEntries([...storm.statuses].sort(([a], [b]) => a - b));
    const summary = `${engine}: ${rate} sign-ins/s for ${seconds} s beside ${hosts} agents (${JSON.stringify(byStatus)}): poll p95 ${during.p95} ms while ${during.ok} passwords were hashed, ${told.p95} over all, ${before.p95} without sign-ins; write p95 ${during.p95Commit}, ${told.p95Commit}, ${before.commit} ms; poll p99 ${during.poll}, ${told.poll}, ${before.poll} ms; write p99 ${during.commit} and ${told.commit} ms; agents' writes p99 ${told.agentWrite.toFixed(1)} ms; sign-in p50 ${storm.latency.quantile(0.5).toFixed(0)}, p99 ${p99(storm.latency)} ms; ${report.errors} agent errors; load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`;
    await bed.stop();
    const odd = [...storm.statuses.keys()].filter((status) => ![200, 429, 503].includes(status));
    insist(odd.length === 0, `sign-ins were answered ${odd.join(", ")}: ${summary}`);
    insist(during.ok > 0, `nobody could sign in: ${summary}`);
    insist(report.errors === 0, () => `${summary}: ${report.recentErrors.join("; ")}`);
    insist(Math.max(during.poll, told.poll) <= POLL_P99_MS, `polls waited: ${summary}`);
    insist(Math.max(during.commit, told.commit) <= WRITE_P99_MS, `writes waited: ${summary}`);
    return summary;
  } finally {
    await bed.dispose();
  }
}

const p95 = (latency: Histogram): number => Math.round(latency.quantile(0.95) * 10) / 10;
const p99 = (latency: Histogram): number => Math.round(latency.quantile(0.99) * 10) / 10;

/** Sends sign-ins at their times, whether the earlier ones have got a reply or not. */
async function storming(door: Door, storm: Storm, from: number, seconds: number, rate: number): Promise<void> {
  const started = performance.now();
  const under: Promise<void>[] = [];
  for (let n = 0; n < seconds * rate; n++) {
    const late = started + (n * 1000) / rate - performance.now();
    if (late > 0) await pause(late);
    under.push(signIn(door, storm, from + n));
  }
  await Promise.all(under);
}

async function signIn(door: Door, { statuses, latency }: Storm, n: number): Promise<void> {
  const started = performance.now();
  const answer = await door.from(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, "POST", "/login", {
    email: `user-${n % USERS}@example.com`,
    password: PASSWORD,
  });
  const status = answer?.status ?? 0;
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status === 200) latency.record(performance.now() - started);
}

/** One write after another; each reaches the disk before its reply. */
async function writeUntil(isOver: () => boolean, door: Door, latency: Histogram, name: string): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const started = performance.now();
    const answer = await door.call("POST", "/teams", { name: `${name}-${n}` });
    insist(answer?.status === 200, () => `a write: ${JSON.stringify(answer)}`);
    latency.record(performance.now() - started);
    await pause(20);
  }
}

export async function run(args: SoakArgs): Promise<string> {
  await build();
  const { engine = "both" } = args;
  const lines: string[] = [];
  for (const one of ["lowdb", "postgres"] as const)
    if (engine === one || engine === "both")
      lines.push(
        await loginStorm({
          engine: one,
          hosts: numberOf(args, "hosts", 2_000),
          seconds: numberOf(args, "seconds", 30),
          rate: numberOf(args, "rate", 50),
        }),
      );
  insist(lines.length > 0, "--engine is lowdb, postgres or both");
  return lines.join("; ");
}
