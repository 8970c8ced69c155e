// The reconciler's pass over all profiles when nothing is to be done: its duration, the CPU of the server's process, the
// calls of the store, and the longest stall of the event loop. `npm run bench -- profiles [lowdb|postgres] [hosts] [profiles]`
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { reconcile } from "../src/server/devices/profiles/reconcile.ts";
import { startServer } from "../src/server/main.ts";
import { openStore } from "../src/server/open-data.ts";
import type { ServerStore } from "../src/server/platform/core/tables.ts";
import { hostRow } from "../test/support/make.ts";
import { median } from "./support/figures.ts";
import { type EngineName, makePlace } from "./support/place.ts";

const ROUNDS = 5;
const BATCH_SIZE = 5000;

export async function run(args: readonly string[]): Promise<void> {
  const only = args.find((arg) => arg === "lowdb" || arg === "postgres");
  const [hosts = 10_000, profiles = 30] = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
  for (const engine of ["lowdb", "postgres"] as const)
    if (only === undefined || only === engine) await measure(engine, hosts, profiles);
}

async function measure(engine: EngineName, hosts: number, profiles: number): Promise<void> {
  const place = await makePlace(engine);
  const log = pino({ level: "silent" });
  try {
    const store = await openStore(place.settings, log);
    await fillProfiles(store, hosts, profiles);
    await store.close();
    await place.analyze();
    const server = await startServer(place.settings, log);
    const { services } = server;
    const calls = async () =>
      (await services.metrics.registry.getMetricsAsJSON())
        .filter(({ name }) => name === "svc_store_seconds")
        .flatMap(({ values }) => values as { metricName?: string; value: number }[])
        .reduce((sum, { metricName, value }) => sum + (metricName?.endsWith("_count") ? value : 0), 0);
    // The server's own first pass.
    const first = await reconcile(services, {});
    const rounds: { ms: number; cpu: number; calls: number; stall: number }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const before = await calls();
      const cpu = process.cpuUsage();
      const started = performance.now();
      const changed = await reconcile(services, {});
      const ms = performance.now() - started;
      const { user, system } = process.cpuUsage(cpu);
      // The delay is noted when the event loop turns.
      await setTimeout(10);
      delay.disable();
      if (changed > 0) throw new Error(`${changed} profiles were not as they should be`);
      rounds.push({ ms, cpu: (user + system) / 1000, calls: (await calls()) - before, stall: delay.max / 1e6 });
    }
    const of = (key: "ms" | "cpu" | "calls" | "stall") => Math.round(median(rounds.map((round) => round[key])));
    console.log(
      `${engine}: ${hosts} hosts with ${profiles} profiles, nothing to do: ${of("ms")} ms, ${of("cpu")} ms of CPU, ${of("calls")} calls of the store, longest stall ${of("stall")} ms (first pass changed ${first})`,
    );
    await server.stop();
  } finally {
    await place.remove();
  }
}

/** Managed Macs that have all profiles. */
export async function fillProfiles(store: ServerStore, hosts: number, profiles: number): Promise<void> {
  const now = new Date().toISOString();
  const allHosts: { id: number }[] = [];
  for (let at = 0; at < hosts; at += BATCH_SIZE)
    allHosts.push(
      ...(await store.hosts.insertMany(
        Array.from({ length: Math.min(BATCH_SIZE, hosts - at) }, () =>
          hostRow(now, { platform: "darwin", label_updated_at: now }),
        ),
      )),
    );
  const times = { created_at: now, updated_at: now, uploaded_at: now };
  const rows = await store.configurationProfiles.insertMany(
    Array.from({ length: profiles }, (_, i) => ({
      uuid: `a-profile-${i}`,
      team_id: null,
      platform: "darwin" as const,
      kind: "profile" as const,
      name: `profile ${i}`,
      identifier: `com.example.profile.${i}`,
      checksum: `checksum ${i}`,
      ...times,
    })),
  );
  for (let at = 0; at < allHosts.length; at += BATCH_SIZE) {
    const batch = allHosts.slice(at, at + BATCH_SIZE);
    await store.hostMdm.insertMany(
      batch.map(({ id }) => ({ id, enrollment_status: "On (manual)" as const, connected_to_svc: true })),
    );
    for (const { uuid, name, identifier, checksum } of rows)
      await store.hostProfiles.insertMany(
        batch.map(({ id }) => ({
          host_id: id,
          profile_uuid: uuid,
          platform: "darwin" as const,
          name,
          identifier,
          checksum,
          operation_type: "install" as const,
          status: "verified" as const,
        })),
      );
  }
}
