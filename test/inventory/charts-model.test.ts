// A random history of hosts, compared with a model that keeps every moment.
import { describe, expect, it } from "vitest";
import type { Chart } from "../../src/api/inventory/charts.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { amount, bothEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeSoftware, makeTeam, makeVulnerabilities } from "../support/make.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const STEP_MS = 10 * MINUTE;

/** A sequence of numbers from 0 to 1 that depends on the seed only (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let n = Math.imul(state ^ (state >>> 15), 1 | state);
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n;
    return ((n ^ (n >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Model {
  /** The hosts that were online at each step. */
  readonly online: { time: number; hosts: Set<number> }[];
  /** The CVEs of each host at each step of an hour. */
  readonly affected: { time: number; cves: Map<number, string[]> }[];
}

class World {
  readonly hosts: { id: number; teamId: number | null }[] = [];
  readonly versions: { id: number; title_id: number; cves: string[] }[] = [];
  readonly installed = new Map<number, number[]>();
  readonly model: Model = { online: [], affected: [] };
  readonly #t: TestApp;
  readonly #random: () => number;

  constructor(t: TestApp, seed: number) {
    this.#t = t;
    this.#random = randomNumbers(seed);
  }

  pick(most: number): number {
    return Math.floor(this.#random() * most);
  }

  async build(): Promise<void> {
    const team = await makeTeam(this.#t);
    for (let i = 0; i < 12; i++) {
      const teamId = i % 3 === 0 ? team.id : null;
      const host = await makeHost(this.#t, { team_id: teamId, created_at: "2026-01-01T00:00:00.000Z" });
      this.hosts.push({ id: host.id, teamId });
    }
    for (let i = 0; i < 6; i++) {
      const version = await makeSoftware(this.#t, `Tool ${i}`, "1.0");
      const cves = i === 5 ? [] : [`CVE-2026-000${i}`, `CVE-2026-000${(i + 1) % 5}`];
      await makeVulnerabilities(this.#t, { software: version.id, cves, known: { cvss_score: 9.5 } });
      this.versions.push({ id: version.id, title_id: version.title_id, cves });
    }
  }

  /** One step of ten minutes: hosts call or sleep, some get other software, and once an hour vulnerabilities change. */
  async step(isHour: boolean): Promise<void> {
    const { store, clock } = this.#t;
    const online = new Set<number>();
    for (const { id } of this.hosts) {
      if (this.#random() < 0.15) await this.#install(id);
      if (this.#random() < 0.6) continue;
      const before = await store.hostSeen.get(id);
      const seen_time = clock.iso();
      const online_since = before === null || before.online_until < seen_time ? seen_time : before.online_since;
      const online_until = new Date(clock.now() + 70_000).toISOString();
      await store.hostSeen.upsert([{ id, seen_time, online_until, online_since }], { on: ["id"], returning: [] });
      online.add(id);
    }
    if (isHour && this.#random() < 0.3) await this.#otherCves();
    this.model.online.push({ time: clock.now(), hosts: online });
    await runJob(this.#t.services, "history_samples");
    if (isHour)
      this.model.affected.push({
        time: clock.now(),
        cves: new Map(
          this.hosts.map(({ id }) => [id, (this.installed.get(id) ?? []).flatMap((at) => this.versions[at]!.cves)]),
        ),
      });
  }

  async #install(hostId: number): Promise<void> {
    const places = this.versions.flatMap((_, at) => (this.#random() < 0.3 ? [at] : []));
    this.installed.set(hostId, places);
    await makeInventory(
      this.#t,
      hostId,
      places.map((at) => this.versions[at]!),
    );
  }

  async #otherCves(): Promise<void> {
    const version = this.versions[this.pick(this.versions.length)]!;
    version.cves = this.#random() < 0.2 ? [] : [`CVE-2026-000${this.pick(5)}`];
    await makeVulnerabilities(this.#t, { software: version.id, cves: version.cves, known: { cvss_score: 9.5 } });
  }

  /** What a chart must show for the spans. */
  expected(metric: string, data: Chart["data"], resolution: number, isShown: (id: number) => boolean, except: string) {
    return data.map(({ timestamp }) => {
      const from = Date.parse(timestamp);
      const to = from + resolution * HOUR;
      const seen = new Set<number>();
      if (metric === "uptime") {
        // An hour counts for the time in which it begins.
        for (const { time, hosts } of this.model.online)
          if (time - (time % HOUR) >= from && time - (time % HOUR) < to) for (const id of hosts) seen.add(id);
      } else {
        const last = this.model.affected.filter(({ time }) => time < to).at(-1);
        for (const [id, cves] of last?.cves ?? []) if (cves.some((cve) => cve !== except)) seen.add(id);
      }
      return [...seen].filter(isShown).length;
    });
  }
}

describe.each(bothEngines)("a random history on %s", (engine) => {
  it("is shown as it was", async () => {
    for (let seed = 1; seed <= amount(1, 2); seed++) {
      const t = await startApp({ engine });
      const world = new World(t, seed);
      await world.build();
      for (let hour = 0; hour < amount(engine === "postgres" ? 3 : 8, 12); hour++)
        for (let step = 0; step < 6; step++) {
          await world.step(step === 0);
          t.clock.advance(STEP_MS);
        }
      t.clock.advance(-MINUTE);
      const teamId = world.hosts[0]!.teamId;
      for (const metric of ["uptime", "cve"])
        for (const resolution of [1, 3, 24])
          for (const offset of [0, 90, -330]) {
            const query = `days=2&resolution=${resolution}&tz_offset=${offset}`;
            const except = metric === "cve" ? "&exclude_vulnerabilities=CVE-2026-0001" : "";
            for (const [filter, isShown] of [
              ["", () => true],
              [
                `&team_id=${teamId}`,
                (id: number) => world.hosts.some((host) => host.id === id && host.teamId === teamId),
              ],
              [`&exclude_host_ids=${world.hosts[1]!.id}`, (id: number) => id !== world.hosts[1]!.id],
            ] as const) {
              const reply = await t.get(`/charts/${metric}?${query}${filter}${except}`);
              const { data } = (await reply.json()) as Chart;
              const name = except === "" ? "" : "CVE-2026-0001";
              expect([seed, metric, query, filter, data.map(({ value }) => value)]).toEqual([
                seed,
                metric,
                query,
                filter,
                world.expected(metric, data, resolution, isShown, name),
              ]);
            }
          }
      await t.close();
    }
  }, 600_000);
});
