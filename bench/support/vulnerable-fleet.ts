// A store with hosts and 60,000 software versions, and the feeds of vulnerabilities with which they are compared.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { startServer } from "../../src/server/main.ts";
import { fillHosts } from "./many-hosts.ts";
import { type EngineName, makePlace, type Place } from "./place.ts";
import { type BenchServer, startServe } from "./serve.ts";
import { writeAdvisories, writeYear } from "./vulnerability-data.ts";
import { fillVersions } from "./vulnerable-software.ts";

const TITLES = 3_000;
export const VERSIONS_EACH = 20;
const SOFTWARE_EACH = 100;

export interface Fleet {
  readonly place: Place;
  /** The built server on this store. It finds no feeds before `publish`. */
  serve(): Promise<BenchServer>;
  /** Puts the feeds in the place that the server reads; each call publishes another edition. */
  publish(): void;
}

export async function makeFleet(engine: EngineName, hosts: number): Promise<Fleet> {
  const place = await makePlace(engine);
  const { data_dir: dataDir, database_url: url } = place.settings;
  const filling = await startServer(place.settings, pino({ level: "silent" }));
  await fillHosts(filling.services, hosts, SOFTWARE_EACH, (services) => fillVersions(services, TITLES, VERSIONS_EACH));
  await filling.stop();
  await place.analyze();
  const next = join(dataDir, "next-feeds");
  const feeds = join(dataDir, "feeds");
  let edition = 0;
  return {
    place,
    serve: () =>
      startServe({ dataDir, env: { SVC_VULNERABILITY_DATA_URL: feeds, ...(url ? { SVC_DATABASE_URL: url } : {}) } }),
    publish() {
      const folder = edition === 0 ? next : feeds;
      edition++;
      writeYear(folder, TITLES, edition);
      if (edition > 1) return;
      writeAdvisories(next, TITLES);
      renameSync(next, feeds);
    },
  };
}
