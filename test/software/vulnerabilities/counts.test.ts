// How many hosts of each scope a vulnerability affects, compared with a count of all hosts after random changes.

import { describe, expect, it } from "vitest";
import { forgetResults } from "../../../src/server/checks/policies/results.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { ALL_HOSTS, NO_TEAM } from "../../../src/server/hosts/count-changes/tables.ts";
import { recordSystems } from "../../../src/server/hosts/count-changes/vulnerabilities.ts";
import { eq, everything, gte } from "../../../src/server/platform/store/query.ts";
import {
  addVulnerabilityCounts,
  vulnerabilityCounts,
} from "../../../src/server/software/software/vulnerabilities/counts.ts";
import { recountVulnerabilities } from "../../../src/server/software/software/vulnerabilities/recount.ts";
import { replaceVulnerabilities, setMetadata } from "../../../src/server/software/software/vulnerabilities/service.ts";
import { correctSeverities } from "../../../src/server/software/software/vulnerabilities/severity.ts";
import { vulnerabilityMatcher } from "../../../src/server/software/vulnerabilities/matching/matcher.ts";
import { Random } from "../../../src/simulator/random.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeHost, makeInventory, makeResults, makeSoftware, makeTeam } from "../../support/make.ts";

const AT = "2026-01-05T00:00:00.000Z";

/** `scope CVE hosts` */
async function stored({ store }: TestApp): Promise<string[]> {
  const cveOf = new Map((await store.vulnerabilities.list()).map(({ id, cve }) => [id, cve]));
  const rows = await store.vulnerabilityCounts.list();
  return rows.map((row) => `${row.scope} ${cveOf.get(row.vulnerability_id)} ${row.hosts_count}`).sort();
}

async function counted({ store }: TestApp): Promise<string[]> {
  const [ofSoftware, ofSystems] = [await store.softwareCves.list(), await store.osCves.list()];
  const lists = new Map((await store.hostSoftware.list()).map(({ id, software_ids }) => [id, software_ids]));
  const counts = new Map<string, number>();
  for (const { id, team_id, os_version_id } of await store.hosts.list()) {
    const cves = new Set([
      ...ofSoftware.filter(({ software_id }) => lists.get(id)?.includes(software_id)).map(({ cve }) => cve),
      ...ofSystems.filter((row) => row.os_version_id === os_version_id).map(({ cve }) => cve),
    ]);
    for (const scope of [ALL_HOSTS, team_id ?? NO_TEAM])
      for (const cve of cves) counts.set(`${scope} ${cve}`, (counts.get(`${scope} ${cve}`) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

/** The numbers of critical vulnerabilities of hosts that are stored, and those that a count gives: `host number`. */
async function critical({ store }: TestApp): Promise<{ stored: string[]; counted: string[] }> {
  const rows = new Map((await store.hostPolicies.list()).map((row) => [row.id, row]));
  const cves = new Set((await store.vulnerabilities.list({ where: gte("cvss_score", 9) })).map(({ cve }) => cve));
  const [ofSoftware, ofSystems] = [await store.softwareCves.list(), await store.osCves.list()];
  const lists = new Map((await store.hostSoftware.list()).map(({ id, software_ids }) => [id, software_ids]));
  const hosts = await store.hosts.list();
  return {
    stored: hosts.map(({ id }) => `${id} ${rows.get(id)?.critical_count ?? 0} ${rows.get(id)?.issues_count ?? 0}`),
    counted: hosts.map(({ id, os_version_id }) => {
      const own = new Set([
        ...ofSoftware.filter(({ software_id }) => lists.get(id)?.includes(software_id)).map(({ cve }) => cve),
        ...ofSystems.filter((row) => row.os_version_id === os_version_id).map(({ cve }) => cve),
      ]);
      const count = [...own].filter((cve) => cves.has(cve)).length;
      return `${id} ${count} ${count + (rows.get(id)?.failing.length ?? 0)}`;
    }),
  };
}

/** The first four CVEs are critical. */
const score = (t: TestApp, cves: readonly string[]) =>
  t.store.tx((tx) =>
    setMetadata(
      tx,
      cves.map((cve) => ({
        cve,
        cvss_score: Number(cve.at(-1)) < 4 ? 9 + Number(cve.at(-1)) / 10 : 8.9,
        epss_probability: null,
        cisa_known_exploit: false,
        cve_published: null,
        cve_description: null,
      })),
    ),
  );

const replace = (t: TestApp, kind: "software" | "os", id: number, cves: readonly string[]) =>
  t.store.tx((tx) =>
    replaceVulnerabilities(
      tx,
      kind,
      id,
      cves.map((cve) => ({ cve, resolved_in_version: null })),
      AT,
    ),
  );

const addAll = async (t: TestApp) => {
  while (await addVulnerabilityCounts(t.services));
};
const recount = (t: TestApp) => recountVulnerabilities(t.services, AbortSignal.timeout(60_000));

async function start(engine: (typeof bothEngines)[number]) {
  const t = await startApp({ engine });
  await t.services.running.of(vulnerabilityCounts).flush();
  const versions: { id: number; title_id: number }[] = [];
  for (let i = 0; i < 8; i++) versions.push(await makeSoftware(t, `App ${i % 4}`, `1.${i}`));
  const systems: number[] = [];
  for (const version of ["14.1", "14.2", "14.3"])
    systems.push((await t.store.osVersions.insert({ name: "macOS", version, platform: "darwin" })).id);
  return { t, versions, systems };
}

describe.each(bothEngines)("counts of vulnerabilities on %s", (engine) => {
  it("stay right through inventories, updates, transfers, deleted hosts and other vulnerabilities", async () => {
    const { t, versions, systems } = await start(engine);
    const random = new Random(5);
    const cves = Array.from({ length: 10 }, (_, i) => `CVE-2026-000${i}`);
    const some = () => cves.filter(() => random.int(0, 3) === 0);
    for (const { id } of versions.slice(2)) await replace(t, "software", id, some());
    for (const id of systems.slice(1)) await replace(t, "os", id, some());
    const teams = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    const hosts: number[] = [];
    for (let i = 0; i < 6; i++) hosts.push((await makeHost(t, { team_id: teams[i % 3]?.id ?? null })).id);
    await makeResults(t, hosts[0]!, { failing: [{ result_id: 7001 }, { result_id: 7002 }] });
    await score(t, cves);
    await recount(t);
    for (let round = 0; round < 60; round++) {
      const host = hosts[random.int(0, hosts.length - 1)]!;
      const what = random.int(0, 19);
      if (what < 9)
        await makeInventory(
          t,
          host,
          versions.filter(() => random.int(0, 2) === 0),
        );
      else if (what < 13)
        await t.store.tx(async (tx) => {
          const before = (await tx.hosts.get(host))!.os_version_id;
          await tx.hosts.update({ where: eq("id", host), set: { os_version_id: systems[random.int(0, 2)]! } });
          await recordSystems(tx, [{ hostId: host, before }]);
        });
      else if (what < 17)
        await t.post("/hosts/transfer", { team_id: teams[random.int(0, 2)]?.id ?? null, hosts: [host] });
      else if (what < 18 && hosts.length > 3) {
        expect((await t.delete(`/hosts/${host}`)).status).toBe(200);
        hosts.splice(hosts.indexOf(host), 1);
      } else if (what === 19) {
        await addAll(t);
        await replace(t, "software", versions[random.int(0, 7)]!.id, some());
        await score(t, cves);
        await recount(t);
      }
      if (round % 4 === 0) {
        await addAll(t);
        expect(await stored(t), `round ${round}`).toEqual(await counted(t));
        const numbers = await critical(t);
        expect(numbers.stored, `round ${round}`).toEqual(numbers.counted);
      }
    }
    await t.delete(`/teams/${teams[0]!.id}`);
    await addAll(t);
    expect(await stored(t)).toEqual(await counted(t));
    expect(await t.store.vulnerabilityCountChanges.count()).toBe(0);
  });

  it("are right if hosts change while all are counted", async () => {
    const { t, versions, systems } = await start(engine);
    const team = await makeTeam(t, "A");
    const cves = ["CVE-2026-0001", "CVE-2026-0002", "CVE-2026-0003", "CVE-2026-0007"];
    for (const [i, cve] of cves.entries()) await replace(t, "software", versions[i]!.id, [cve, "CVE-2026-0000"]);
    await replace(t, "os", systems[1]!, ["CVE-2026-0004"]);
    await score(t, [...cves, "CVE-2026-0000", "CVE-2026-0004"]);
    const hosts: number[] = [];
    for (let i = 0; i < 5; i++) hosts.push((await makeHost(t, { os_version_id: systems[1]! })).id);
    for (const id of hosts) await makeInventory(t, id, versions.slice(0, 3));
    await addAll(t);
    // Hosts have been counted one by one when the differences of the others are read.
    const change = async () => {
      await makeInventory(t, hosts[0]!, versions.slice(2, 4));
      await t.post("/hosts/transfer", { team_id: team.id, hosts: [hosts[1]] });
      await t.delete(`/hosts/${hosts[2]}`);
      await t.store.tx(async (tx) => {
        await tx.hosts.update({ where: eq("id", hosts[3]!), set: { os_version_id: systems[0]! } });
        await recordSystems(tx, [{ hostId: hosts[3]!, before: systems[1]! }]);
      });
      await makeInventory(t, (await makeHost(t)).id, versions.slice(0, 1));
    };
    const store = new Proxy(t.store, {
      get: (target, name) =>
        name !== "tx"
          ? Reflect.get(target, name)
          : async (work: Parameters<typeof target.tx>[0], options: Parameters<typeof target.tx>[1]) => {
              if (options?.snapshot) await change();
              return target.tx(work, options);
            },
    });
    expect(await recountVulnerabilities({ ...t.services, store }, AbortSignal.timeout(60_000))).toBe(true);
    await addAll(t);
    expect(await stored(t)).toEqual(await counted(t));
    expect(await stored(t)).toContain(`${team.id} CVE-2026-0001 1`);
    const numbers = await critical(t);
    expect(numbers.stored).toEqual(numbers.counted);
    expect(await t.store.vulnerabilityCountChanges.count()).toBe(0);
  });

  it("wait for the end of a comparison of all versions", async () => {
    const { t, versions } = await start(engine);
    // Once the comparison has ended, it would compare the new versions with no data, and find nothing.
    await t.services.running.of(vulnerabilityMatcher).stop();
    await makeInventory(t, (await makeHost(t)).id, versions);
    const counts = t.services.running.of(vulnerabilityCounts);
    await counts.flush();
    const { id } = await t.store.vulnerabilityMatching.insert({
      data: "d",
      software_id: 0,
      done: 0,
      total: 8,
      started_at: AT,
      finished_at: null,
    });
    await replace(t, "software", versions[0]!.id, ["CVE-2026-0001"]);
    await counts.update();
    expect(await stored(t)).toEqual([]);
    await t.store.vulnerabilityMatching.update({ where: eq("id", id), set: { finished_at: AT } });
    await counts.flush();
    expect(await stored(t)).toEqual(await counted(t));
    expect(await stored(t)).toHaveLength(2);
  });

  it("follow other vulnerabilities of versions by themselves", async () => {
    const { t, versions, systems } = await start(engine);
    const host = await makeHost(t, { os_version_id: systems[0]! });
    await makeInventory(t, host.id, versions.slice(0, 2));
    await replace(t, "software", versions[0]!.id, ["CVE-2026-0001", "CVE-2026-0002"]);
    await replace(t, "os", systems[0]!, ["CVE-2026-0002"]);
    const flush = () => t.services.running.of(vulnerabilityCounts).flush();
    await flush();
    expect(await stored(t)).toEqual(
      [`-1 CVE-2026-0001 1`, "-1 CVE-2026-0002 1", "0 CVE-2026-0001 1", "0 CVE-2026-0002 1"].sort(),
    );
    // Without the software, the system still has it.
    await makeInventory(t, host.id, versions.slice(1, 2));
    await flush();
    expect(await stored(t)).toEqual(["-1 CVE-2026-0002 1", "0 CVE-2026-0002 1"]);
    await replace(t, "os", systems[0]!, []);
    await flush();
    expect(await stored(t)).toEqual([]);
  });

  it("count those of a host that are critical, again when their scores change", async () => {
    const { t, versions, systems } = await start(engine);
    const host = await makeHost(t, { os_version_id: systems[0]! });
    await makeHost(t);
    await makeInventory(t, host.id, versions.slice(0, 2));
    for (const { id } of versions.slice(0, 2)) await replace(t, "software", id, ["CVE-2026-0001", "CVE-2026-0002"]);
    await replace(t, "os", systems[0]!, ["CVE-2026-0002", "CVE-2026-0009"]);
    const flush = () => t.services.running.of(vulnerabilityCounts).flush();
    const issues = async () => {
      const { hosts } = (await (await t.get("/hosts?order_key=issues&order_direction=desc")).json()) as {
        hosts: { id: number; issues: object }[];
      };
      expect(hosts[0]!.id).toBe(host.id);
      return hosts[0]!.issues;
    };
    await flush();
    expect((await critical(t)).stored[0]).toBe(`${host.id} 0 0`);
    await score(t, ["CVE-2026-0001", "CVE-2026-0002", "CVE-2026-0009"]);
    await correctSeverities(t.store);
    await flush();
    expect(await issues()).toEqual({
      failing_policies_count: 0,
      total_issues_count: 2,
      critical_vulnerabilities_count: 2,
    });
    await makeResults(t, host.id, { failing: [{ result_id: 7001 }] });
    await recount(t);
    // An enrollment forgets results in this way.
    await t.store.tx((tx) => forgetResults(tx, [host.id]));
    expect(await issues()).toMatchObject({ total_issues_count: 2 });
    await makeInventory(t, host.id, []);
    await flush();
    expect(await issues()).toMatchObject({ total_issues_count: 1, critical_vulnerabilities_count: 1 });
  });

  it("are corrected once a day, also with differences that wait", async () => {
    const { t, versions } = await start(engine);
    for (const { id } of versions) await replace(t, "software", id, ["CVE-2026-0001"]);
    const hosts = [await makeHost(t), await makeHost(t)];
    for (const { id } of hosts) await makeInventory(t, id, versions);
    await t.services.running.of(vulnerabilityCounts).flush();
    await t.store.vulnerabilityCounts.update({ where: everything, set: { hosts_count: 9 } });
    t.clock.advance(25 * 3_600_000);
    await makeInventory(t, hosts[0]!.id, []);
    await runJob(t.services, "counts");
    expect(await stored(t)).toEqual(await counted(t));
    expect(await stored(t)).toHaveLength(2);
  });

  it("are counted by another server if one has died meanwhile", async () => {
    const { t, versions } = await start(engine);
    await makeInventory(t, (await makeHost(t)).id, versions);
    await t.services.running.of(vulnerabilityCounts).flush();
    await replace(t, "software", versions[0]!.id, ["CVE-2026-0001"]);
    const until = new Date(t.clock.now() + 600_000).toISOString();
    await t.store.vulnerabilityCountState.update({ where: everything, set: { is_due: false, recount_until: until } });
    await t.services.running.of(vulnerabilityCounts).flush();
    expect(await stored(t)).toEqual([]);
    t.clock.advance(600_000);
    await t.services.running.of(vulnerabilityCounts).flush();
    expect(await stored(t)).toEqual(await counted(t));
    expect(await stored(t)).toHaveLength(2);
  });
});
