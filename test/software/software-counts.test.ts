// The counts of software for all hosts, each team, and hosts without a team, compared with a count of all hosts after
// random changes.

import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { ALL_HOSTS, NO_TEAM } from "../../src/server/hosts/count-changes/tables.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import { addSoftwareCounts, recountSoftware, softwareCounts } from "../../src/server/software/software/counts.ts";
import { Random } from "../../src/simulator/random.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeSoftware, makeTeam } from "../support/make.ts";

/** `scope id hosts` of versions, and `scope id hosts versions` of titles. */
interface CountedSoftware {
  readonly versions: string[];
  readonly titles: string[];
}

async function stored({ store }: TestApp): Promise<CountedSoftware> {
  const versions = await store.softwareVersionCounts.list();
  const titles = await store.softwareTitleCounts.list();
  return {
    versions: versions.map((row) => `${row.scope} ${row.software_id} ${row.hosts_count}`).sort(),
    titles: titles.map((row) => `${row.scope} ${row.title_id} ${row.hosts_count} ${row.versions_count}`).sort(),
  };
}

async function counted({ store }: TestApp): Promise<CountedSoftware> {
  const titleOf = new Map((await store.software.list()).map(({ id, title_id }) => [id, title_id]));
  const teamOf = new Map((await store.hosts.list()).map(({ id, team_id }) => [id, team_id ?? NO_TEAM]));
  const versions = new Map<string, number>();
  const titles = new Map<string, Set<number>>();
  for (const { id, software_ids } of await store.hostSoftware.list())
    for (const scope of [ALL_HOSTS, teamOf.get(id)!])
      for (const version of software_ids) {
        const key = `${scope} ${version}`;
        versions.set(key, (versions.get(key) ?? 0) + 1);
        const title = `${scope} ${titleOf.get(version)}`;
        titles.set(title, (titles.get(title) ?? new Set()).add(id));
      }
  const versionsOf = (key: string) =>
    [...versions.keys()].filter((one) => {
      const [scope, version] = one.split(" ");
      return key === `${scope} ${titleOf.get(Number(version))}`;
    }).length;
  return {
    versions: [...versions].map(([key, count]) => `${key} ${count}`).sort(),
    titles: [...titles].map(([key, hosts]) => `${key} ${hosts.size} ${versionsOf(key)}`).sort(),
  };
}

const addAll = async (t: TestApp) => {
  while (await addSoftwareCounts(t.services));
};

describe.each(bothEngines)("counts of software on %s", (engine) => {
  it("stay right through inventories, transfers, deleted hosts and deleted teams", async () => {
    const t = await startApp({ engine });
    const random = new Random(11);
    const versions: { id: number; title_id: number }[] = [];
    for (let i = 0; i < 12; i++) versions.push(await makeSoftware(t, `App ${i % 5}`, `1.${i}`));
    const teams = [await makeTeam(t, "A"), await makeTeam(t, "B"), await makeTeam(t, "C")];
    const hosts: number[] = [];
    for (let i = 0; i < 8; i++) hosts.push((await makeHost(t, { team_id: teams[i % 4]?.id ?? null })).id);
    for (let round = 0; round < 60; round++) {
      const host = hosts[random.int(0, hosts.length - 1)]!;
      const what = random.int(0, 9);
      if (what < 6)
        await makeInventory(
          t,
          host,
          versions.filter(() => random.int(0, 2) === 0),
        );
      else if (what < 9) {
        const team = teams[random.int(0, teams.length)];
        await t.post("/hosts/transfer", { team_id: team?.id ?? null, hosts: [host] });
      } else if (hosts.length > 4) {
        expect((await t.delete(`/hosts/${host}`)).status).toBe(200);
        hosts.splice(hosts.indexOf(host), 1);
      }
      if (round % 5 === 0) {
        await addAll(t);
        expect(await stored(t), `round ${round}`).toEqual(await counted(t));
      }
    }
    await t.delete(`/teams/${teams[0]!.id}`);
    await addAll(t);
    expect(await stored(t)).toEqual(await counted(t));
    expect(await t.store.softwareCountChanges.count()).toBe(0);
  });

  it("are right after differences that two servers add at the same time", async () => {
    const t = await startApp({ engine });
    const versions = [await makeSoftware(t, "Figma", "1"), await makeSoftware(t, "Figma", "2")];
    for (let i = 0; i < 20; i++) {
      const { id } = await makeHost(t);
      await Promise.all([makeInventory(t, id, versions.slice(i % 2)), addAll(t), addAll(t)]);
    }
    await addAll(t);
    expect(await stored(t)).toEqual(await counted(t));
  });

  it("are made from the hosts if there are none, and corrected by a count of all hosts", async () => {
    const t = await startApp({ engine });
    const versions = [await makeSoftware(t, "Figma", "1"), await makeSoftware(t, "Figma", "2")];
    const team = await makeTeam(t, "A");
    const hosts = [await makeHost(t, { team_id: team.id }), await makeHost(t), await makeHost(t)];
    for (const { id } of hosts) await makeInventory(t, id, versions);
    await addAll(t);
    const right = await counted(t);
    await t.store.softwareVersionCounts.update({ where: everything, set: { hosts_count: 7 } });
    await t.store.softwareTitleCounts.delete(everything);
    // Not added yet: the count of all hosts contains it.
    await makeInventory(t, hosts[0]!.id, versions.slice(1));
    expect(await recountSoftware(t.services, AbortSignal.timeout(60_000))).toEqual([]);
    expect(await stored(t)).toEqual(await counted(t));
    expect(await stored(t)).not.toEqual(right);
    expect(await t.store.softwareCountChanges.count()).toBe(0);
    await runJob(t.services, "counts");
    expect(await stored(t)).toEqual(await counted(t));
  });

  it("wait while all hosts are counted, at most ten minutes if that server dies", async () => {
    const t = await startApp({ engine });
    await t.services.running.of(softwareCounts).flush();
    const { id } = await makeHost(t);
    const until = new Date(t.clock.now() + 600_000).toISOString();
    await t.store.softwareCountState.delete(everything);
    const state = { counted_at: null, recounted_at: null, generation: 1, recount_until: until };
    await t.store.softwareCountState.insert(state);
    await makeInventory(t, id, [await makeSoftware(t, "Figma", "1")]);
    await addAll(t);
    expect((await stored(t)).titles).toEqual([]);
    t.clock.advance(600_000);
    await addAll(t);
    expect(await stored(t)).toEqual(await counted(t));
  });
});
