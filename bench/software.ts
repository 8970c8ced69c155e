// First pages of software titles and versions with every kind of filter and order, also of a team that offers packages,
// and the count of all hosts: 10,000 hosts on the embedded store, 100,000 on Postgres, 300 entries each.
// `npm run bench -- software [lowdb|postgres] [hosts]`
import { pino } from "pino";
import { startServer } from "../src/server/main.ts";
import type { Services } from "../src/server/platform/core/context.ts";
import { recountSoftware } from "../src/server/software/software/counts.ts";
import { formOf } from "../test/support/forms.ts";
import { hostRow, makeTeam, makeUser } from "../test/support/make.ts";
import { Dice } from "../test/support/request-fuzz.ts";
import { quantile } from "./support/figures.ts";
import { adminOf, type EngineName, makePlace, onEngines } from "./support/place.ts";

const TITLES = 20_000;
const VERSIONS = 60_000;
const EACH = 300;
const TEAMS = 20;
const BATCH_SIZE = 1_000;
const ROUNDS = 25;
/** Packages of a team: a large organization has a few hundred. */
const OFFERED = 200;

export const run = (args: readonly string[]): Promise<void> =>
  onEngines(args, { lowdb: 10_000, postgres: 100_000 }, measure);

async function measure(engine: EngineName, hosts: number): Promise<void> {
  const place = await makePlace(engine);
  const server = await startServer(place.settings, pino({ level: "silent" }));
  const admin = await adminOf(server, { connections: 4 });
  try {
    const { services } = server;
    const started = performance.now();
    const { teamIds, rare } = await fill(services, hosts);
    await place.analyze();
    console.log(`${engine}: ${hosts} hosts with ${EACH} entries, made in ${seconds(performance.now() - started)}`);
    await timeCounts(services, hosts);
    await place.analyze();
    const team = `team_id=${teamIds[0]}`;
    const filters = [
      "",
      team,
      "team_id=0",
      "query=program 77",
      `query=${rare}`,
      `${team}&query=program 7`,
      "vulnerable=true",
    ];
    for (const list of ["titles", "versions"])
      for (const filter of filters)
        for (const order of ["", "&order_key=name", "&order_key=hosts_count&order_direction=asc"])
          await time(`${list} ${filter}${order}`, () =>
            admin.get(`/software/${list}?page=0&per_page=50&${encodeURI(filter)}${order}`),
          );
    await offerPackages(server.url, admin.token, teamIds[0]!);
    for (const order of ["", "&order_key=name", "&order_key=hosts_count&order_direction=asc", "&page=100"])
      await time(`titles ${team}, which offers ${OFFERED} that no host has${order}`, () =>
        admin.get(`/software/titles?per_page=50&${team}${order}`),
      );
    await time("operating systems", () => admin.get("/os_versions"));
    await time("page 100 of titles", () => admin.get("/software/titles?page=100&per_page=50"));
    await timeMember(services, teamIds.slice(0, 5), server.url);
  } finally {
    await admin.close();
    await server.stop();
    await place.remove();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

async function time(what: string, call: () => Promise<unknown>): Promise<void> {
  await call();
  const took: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const from = performance.now();
    await call();
    took.push(performance.now() - from);
  }
  console.log(
    `  ${quantile(took, 0.5).toFixed(1).padStart(7)} ms, p95 ${quantile(took, 0.95).toFixed(1).padStart(7)} ms  ${what}`,
  );
}

/** A caller with roles on several teams gets sums. */
async function timeMember(services: Services, teamIds: readonly number[], url: string): Promise<void> {
  const teams = teamIds.map((id) => ({ id, role: "observer" as const }));
  const { token } = await makeUser({ ...services, clock: services.clock as never, as: () => ({}) as never }, { teams });
  await time(`titles, observer of ${teamIds.length} teams`, async () => {
    const reply = await fetch(new URL("/api/v1/svc/software/titles?page=0&per_page=50", url), {
      headers: { authorization: `Bearer ${token}` },
    });
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
    await reply.text();
  });
}

async function offerPackages(url: string, token: string, teamId: number): Promise<void> {
  for (let i = 0; i < OFFERED; i++) {
    const software = new File([`#!/bin/sh\necho ${i}\n`], `tool-${i}.sh`);
    const reply = await fetch(new URL("/api/v1/svc/software/package", url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: formOf({ software, team_id: teamId }),
    });
    if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`);
    await reply.text();
  }
}

async function timeCounts(services: Services, hosts: number): Promise<void> {
  const cpu = process.cpuUsage();
  const from = performance.now();
  await recountSoftware(services, AbortSignal.timeout(3_600_000));
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `  counting ${hosts} hosts: ${seconds(performance.now() - from)}, ${seconds((user + system) / 1000)} of CPU of the server`,
  );
}

/** Common titles are on most hosts; most titles are on few. */
async function fill(services: Services, hosts: number): Promise<{ teamIds: number[]; rare: string }> {
  const { store, clock } = services;
  const dice = new Dice(7);
  const teamIds: number[] = [];
  for (let i = 0; i < TEAMS; i++) teamIds.push((await makeTeam({ store, clock: clock as never }, `Team ${i}`)).id);
  const titles: { id: number; name: string }[] = [];
  for (let at = 0; at < TITLES; at += BATCH_SIZE)
    titles.push(
      ...(await store.softwareTitles.insertMany(
        Array.from({ length: BATCH_SIZE }, (_, i) => ({
          name: `Program ${at + i}`,
          source: "programs",
          key: `t${at + i}`,
        })),
      )),
    );
  const versions: { id: number; title_id: number }[] = [];
  for (let at = 0; at < VERSIONS; at += BATCH_SIZE)
    versions.push(
      ...(await store.software.insertMany(
        Array.from({ length: BATCH_SIZE }, (_, i) => {
          const title = titles[(at + i) % TITLES]!;
          const version = `${Math.floor((at + i) / TITLES)}.${i % 10}`;
          return { title_id: title.id, name: title.name, version, source: "programs", key: `v${at + i}` };
        }),
      )),
    );
  await store.softwareCves.insertMany(
    versions.filter((_, i) => i % 100 === 0).map(({ id }, i) => ({ software_id: id, cve: `CVE-2026-${1000 + i}` })),
  );
  const os = await store.osVersions.insert({ name: "Windows 11", version: "10.0.26100", platform: "windows" });
  const now = clock.iso();
  for (let at = 0; at < hosts; at += BATCH_SIZE) {
    const inserted = await store.hosts.insertMany(
      Array.from({ length: Math.min(BATCH_SIZE, hosts - at) }, (_, i) =>
        hostRow(now, { platform: "windows", os_version_id: os.id, team_id: teamIds[(at + i) % (TEAMS + 1)] ?? null }),
      ),
    );
    const rows = inserted.map(({ id }) => {
      const hostVersions = new Map<number, number>();
      // The cube makes the first ones common.
      while (hostVersions.size < EACH) {
        const version = versions[Math.floor(dice.next() ** 3 * VERSIONS)]!;
        hostVersions.set(version.id, version.title_id);
      }
      return {
        id,
        software_ids: [...hostVersions.keys()],
        title_ids: [...new Set(hostVersions.values())],
        details: {},
      };
    });
    await store.hostSoftware.insertMany(rows);
  }
  return { teamIds, rare: "program 19999" };
}
