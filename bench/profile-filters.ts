// The summary of profiles, and lists and counts of hosts by the status of their settings, with profiles, disk encryption
// and recovery locks on Postgres. `npm run bench -- profile-filters [hosts] [profiles] [rounds]`
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { setDiskStates } from "../src/server/hosts/disk-encryption/states.ts";
import { recordSettings } from "../src/server/hosts/os-settings/statuses.ts";
import { startServer } from "../src/server/main.ts";
import { openStore } from "../src/server/open-data.ts";
import type { ServerStore } from "../src/server/platform/core/tables.ts";
import { fillProfiles } from "./profiles.ts";
import { quantile } from "./support/figures.ts";
import { adminOf, makePlace, type Place } from "./support/place.ts";

const BATCH_SIZE = 5000;
const statuses = ["verified", "verifying", "pending", "failed"] as const;

export async function run(args: readonly string[]): Promise<void> {
  const [hosts = 100_000, profiles = 30, rounds = 20] = args.map(Number);
  const place = await makePlace("postgres");
  const log = pino({ level: "silent" });
  try {
    const store = await openStore(place.settings, log);
    await fillProfiles(store, hosts, profiles);
    await fillStatuses(store);
    await store.close();
    await place.analyze();
    const server = await startServer(place.settings, log);
    const admin = await adminOf(server, { connections: 1 });
    await settled(place);
    const uuid = "a-profile-0";
    const paths = [
      "/configuration_profiles/summary",
      ...statuses.map((status) => `/hosts?os_settings=${status}&per_page=50`),
      ...statuses.map((status) => `/hosts/count?os_settings=${status}`),
      `/hosts?profile_uuid=${uuid}&profile_status=failed&per_page=50`,
      `/hosts/count?profile_uuid=${uuid}&profile_status=verified`,
    ];
    for (const path of paths) {
      await admin.get(path);
      const times: number[] = [];
      const before = place.cpu();
      for (let i = 0; i < rounds; i++) {
        const from = performance.now();
        await admin.get(path);
        times.push(performance.now() - from);
      }
      const cpu = `${(((place.cpu() - before) / rounds) * 1000).toFixed(0)} ms of Postgres' CPU`;
      const ms = (share: number) => `${quantile(times, share).toFixed(1)} ms`;
      console.log(`${path.padEnd(75)} ${cpu}, median ${ms(0.5)}, p95 ${ms(0.95)}, best ${ms(0)}`);
    }
    await admin.close();
    await server.stop();
  } finally {
    await place.remove();
  }
}

/** Waits for what a server does at its start, such as comparing all profiles, but at most two minutes. */
async function settled(place: Place): Promise<void> {
  for (let tries = 0, quiet = 0; tries < 120 && quiet < 3; tries++) {
    const before = place.cpu();
    await setTimeout(1_000);
    quiet = place.cpu() - before < 0.05 ? quiet + 1 : 0;
  }
}

/** One host in a hundred has failed, one in fifty waits, one in twenty is being verified. */
const statusAt = (n: number): (typeof statuses)[number] =>
  n % 100 === 0 ? "failed" : n % 50 === 1 ? "pending" : n % 20 === 2 ? "verifying" : "verified";

async function fillStatuses(store: ServerStore): Promise<void> {
  for await (const page of store.hosts.pages({}, BATCH_SIZE, ["id"])) {
    const ids = page.map(({ id }) => id);
    await recordSettings(
      store,
      "profiles",
      ids.map((id) => ({ id, status: statusAt(id) })),
    );
    await setDiskStates(
      store,
      ids.map((id) => ({ id, status: id % 200 === 3 ? "enforcing" : "verified", detail: "" })),
    );
    await recordSettings(
      store,
      "recovery_lock",
      ids.map((id) => ({ id, status: id % 300 === 4 ? "failed" : "verified" })),
    );
  }
}
