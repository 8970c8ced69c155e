// First pages of vulnerabilities in every order, and of the hosts that one affects: 10,000 hosts on the embedded store,
// 100,000 on Postgres, 100 software entries each, 20,000 CVEs. `npm run bench -- vulnerabilities [lowdb|postgres] [hosts]`
import { pino } from "pino";
import { vulnerabilitiesApi } from "../src/api/software/vulnerabilities.ts";
import { startServer } from "../src/server/main.ts";
import type { Services } from "../src/server/platform/core/context.ts";
import { recountVulnerabilities } from "../src/server/software/software/vulnerabilities/recount.ts";
import { writeSeverities } from "../src/server/software/software/vulnerabilities/severity.ts";
import { Dice } from "../test/support/request-fuzz.ts";
import { quantile } from "./support/figures.ts";
import { fillHosts } from "./support/many-hosts.ts";
import { type Admin, adminOf, type EngineName, makePlace, onEngines, type Place } from "./support/place.ts";

const CVES = 20_000;
/** Pairs of a version and a CVE. */
const PAIRS = 40_000;
const BATCH_SIZE = 1_000;
const ROUNDS = 25;
/** Limit of the 95th percentile in milliseconds. */
const LIMIT_MS = 150;

export const run = (args: readonly string[]): Promise<void> =>
  onEngines(args, { lowdb: 10_000, postgres: 100_000 }, measure);

async function measure(engine: EngineName, hosts: number): Promise<void> {
  const place = await makePlace(engine);
  const server = await startServer(place.settings, pino({ level: "silent" }));
  const admin = await adminOf(server, { connections: 4 });
  try {
    const { services } = server;
    const filled = await fillHosts(services, hosts, 100);
    await fillVulnerabilities(services);
    await place.analyze();
    console.log(`${engine}: ${hosts} hosts, ${CVES} CVEs`);
    const from = performance.now();
    await recountVulnerabilities(services, AbortSignal.timeout(3_600_000));
    const counted = ((performance.now() - from) / 1000).toFixed(1);
    await place.analyze();
    console.log(
      `  ${await services.store.vulnerabilityCounts.count()} counts, made by counting all hosts in ${counted} s`,
    );
    await timeHosts(place, admin);
    await timeLists(place, admin, filled.teamId);
  } finally {
    await admin.close();
    await server.stop();
    await place.remove();
  }
}

async function timeHosts(place: Place, admin: Admin): Promise<void> {
  const cves = { common: "CVE-2026-0001", rare: "CVE-2026-0002", "of a system": "CVE-2026-0003" };
  for (const [name, cve] of Object.entries(cves)) {
    const filter = `vulnerability=${cve}`;
    await time(place, `number of hosts, CVE ${name}`, () => admin.get(`/hosts/count?${filter}`));
    for (const order of ["", "&order_key=display_name", "&order_key=seen_time&order_direction=desc"])
      await time(place, `hosts, CVE ${name} ${order}`, () => admin.get(`/hosts?page=0&per_page=50&${filter}${order}`));
  }
}

async function timeLists(place: Place, admin: Admin, teamId: number): Promise<void> {
  const team = `team_id=${teamId}`;
  const orders = [undefined, ...vulnerabilitiesApi.list.query.shape.order_key.unwrap().options];
  for (const filter of ["", team, "team_id=0", "query=2024-1", `${team}&query=2024-1`, "exploit=true"])
    for (const order of orders)
      await time(place, `vulnerabilities ${filter} ${order ?? ""}`, () =>
        admin.get(
          `/vulnerabilities?page=0&per_page=50&${filter}${order ? `&order_key=${order}&order_direction=desc` : ""}`,
        ),
      );
  await time(place, "one vulnerability", () => admin.get("/vulnerabilities/CVE-2026-0001"));
}

/** Prints also the CPU of server and database, which other programs on the machine change little. */
async function time(place: Place, what: string, call: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 3; i++) await call();
  const took: number[] = [];
  const cpuBefore = process.cpuUsage();
  const before = place.cpu();
  for (let i = 0; i < ROUNDS; i++) {
    const from = performance.now();
    await call();
    took.push(performance.now() - from);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpu = ((user + system) / 1000 + (place.cpu() - before) * 1000) / ROUNDS;
  const p95 = quantile(took, 0.95);
  const mark = p95 > LIMIT_MS ? "  OVER THE LIMIT" : "";
  const ms = (value: number): string => `${value.toFixed(1).padStart(7)} ms`;
  console.log(`  ${ms(quantile(took, 0.5))}, p95 ${ms(p95)}, CPU ${ms(cpu)}  ${what}${mark}`);
}

/** The fleet's few CVEs, and many more: most of them in one or two versions. */
async function fillVulnerabilities({ store, clock }: Services): Promise<void> {
  const dice = new Dice(11);
  const now = clock.iso();
  const ofSoftware = await store.softwareCves.pick(["cve"]);
  const ofSystems = await store.osCves.pick(["cve"]);
  const fresh = Array.from({ length: CVES }, (_, i) => `CVE-${2015 + (i % 11)}-${10_000 + i}`);
  const cves = [...new Set([...ofSoftware, ...ofSystems].map(({ cve }) => cve)), ...fresh];
  for (let at = 0; at < cves.length; at += BATCH_SIZE)
    await store.vulnerabilities.insertMany(
      cves.slice(at, at + BATCH_SIZE).map((cve, i) => ({
        cve,
        created_at: now,
        is_described: true,
        cvss_score: Math.floor(dice.next() * 100) / 10,
        epss_probability: dice.next(),
        cisa_known_exploit: i % 50 === 0,
        cve_published: now,
        cve_description: "A flaw that lets others do what they should not. ".repeat(5),
      })),
    );
  const versions = await store.software.pick(["id"]);
  const pairs = new Map<string, { software_id: number; cve: string }>();
  while (pairs.size < PAIRS) {
    const pair = {
      software_id: versions[Math.floor(dice.next() * versions.length)]!.id,
      cve: fresh[Math.floor(dice.next() * fresh.length)]!,
    };
    pairs.set(`${pair.software_id} ${pair.cve}`, pair);
  }
  const all = [...pairs.values()];
  for (let at = 0; at < all.length; at += BATCH_SIZE)
    await store.softwareCves.insertMany(all.slice(at, at + BATCH_SIZE));
  const affected = [...new Set(all.map(({ software_id }) => software_id))];
  for (let at = 0; at < affected.length; at += BATCH_SIZE)
    await store.tx((tx) => writeSeverities(tx, affected.slice(at, at + BATCH_SIZE)));
}
