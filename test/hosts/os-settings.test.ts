// The status of a host's settings: the worst of its kinds, whoever changes which of them at the same time.
import { afterAll, expect, it } from "vitest";
import {
  moveSettings,
  recordSettings,
  type SettingKind,
  worstOf,
} from "../../src/server/hosts/os-settings/statuses.ts";
import { countSettings } from "../../src/server/hosts/os-settings/summary.ts";
import type { SettingStatus } from "../../src/server/hosts/os-settings/tables.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { hostRow, makeTeam } from "../support/make.ts";

const kinds: readonly SettingKind[] = ["profiles", "disk_encryption", "recovery_lock", "host_name"];
const statuses: readonly (SettingStatus | null)[] = ["failed", "pending", "verifying", "verified", null];

const apps: TestApp[] = [];
afterAll(() => Promise.all(apps.map((app) => app.close())));

it.each(statuses)("the worst of %s and better ones is itself", (status) => {
  const better = statuses.slice(statuses.indexOf(status));
  expect(worstOf(better)).toBe(status);
  expect(worstOf([...better].reverse())).toBe(status);
});

it.each(bothEngines)("counts hosts by their worst setting while others change the rest (%s)", async (engine) => {
  const app = await startApp({ engine });
  apps.push(app);
  const { store } = app;
  const team = await makeTeam(app);
  const hosts = await store.hosts.insertMany(
    Array.from({ length: 40 }, (_, n) => hostRow(app.clock.iso(), { team_id: n % 4 === 0 ? team.id : null })),
  );
  const ids = hosts.map(({ id }) => id);
  // Each kind is changed three times for all hosts, at the same time as the others.
  const at = (id: number, kind: number, round: number) => statuses[(id * 7 + kind * 3 + round * (id % 3)) % 5]!;
  await Promise.all(
    kinds.map(async (kind, k) => {
      for (const round of [0, 1, 2]) {
        const order = round % 2 === 0 ? ids : [...ids].reverse();
        const rows = order.map((id) => ({ id, status: at(id, k, round) }));
        await store.tx((tx) => recordSettings(tx, kind, rows));
      }
    }),
  );
  const expected = (some: readonly number[]) => {
    const counts = { verified: 0, verifying: 0, failed: 0, pending: 0 };
    for (const id of some) {
      const worst = worstOf(kinds.map((_, k) => at(id, k, 2)));
      if (worst !== null) counts[worst]++;
    }
    return counts;
  };
  const ofTeam = hosts.filter(({ team_id }) => team_id === team.id).map(({ id }) => id);
  expect(await countSettings(store, team.id)).toEqual(expected(ofTeam));
  expect(await countSettings(store, 0)).toEqual(expected(ids.filter((id) => !ofTeam.includes(id))));
  expect(ofTeam).toHaveLength(10);
});

it.each(bothEngines)(
  "does not count Windows servers, which the filter by status leaves out, too (%s)",
  async (engine) => {
    const app = await startApp({ engine });
    apps.push(app);
    const { store } = app;
    const rows = Array.from({ length: 3 }, () => hostRow(app.clock.iso(), { platform: "windows" }));
    const ids = (await store.hosts.insertMany(rows)).map(({ id }) => id);
    for (const [n, id] of ids.entries()) {
      const enrollment_status = "On (manual)" as const;
      await store.hostMdm.insert({ id, enrollment_status, connected_to_svc: true, is_server: n === 0 });
    }
    await store.tx((tx) =>
      recordSettings(
        tx,
        "profiles",
        ids.map((id) => ({ id, status: "verified" as const })),
      ),
    );
    const summary = await (await app.get("/configuration_profiles/summary")).json();
    expect(summary).toEqual({ ...none, verified: 2 });
    expect(await (await app.get("/hosts/count?os_settings=verified")).json()).toEqual({ count: 2 });
  },
);

const none = { verified: 0, verifying: 0, failed: 0, pending: 0 };

it.each(bothEngines)("counts hosts in the team to which they move while statuses are recorded (%s)", async (engine) => {
  const app = await startApp({ engine });
  apps.push(app);
  const { store } = app;
  const teams = [await makeTeam(app), await makeTeam(app)];
  const hosts = await store.hosts.insertMany(Array.from({ length: 30 }, () => hostRow(app.clock.iso())));
  const teamOf = (id: number) => [null, ...teams.map((team) => team.id)][id % 3]!;
  // Each host's first status is recorded, in a transaction of its own, while the host moves.
  await Promise.all(
    hosts.flatMap(({ id }) => [
      store.tx(async (tx) => {
        await tx.hosts.update({ where: eq("id", id), set: { team_id: teamOf(id) } });
        await moveSettings(tx, [id], teamOf(id));
      }),
      store.tx((tx) => recordSettings(tx, "profiles", [{ id, status: "verified" }])),
    ]),
  );
  for (const team of [0, ...teams.map(({ id }) => id)])
    expect(await countSettings(store, team)).toEqual({ ...none, verified: 10 });
});

it.each(bothEngines)("counts hosts after a transfer and after the end of their team (%s)", async (engine) => {
  const app = await startApp({ engine });
  apps.push(app);
  const { store } = app;
  const team = await makeTeam(app);
  const hosts = await store.hosts.insertMany(Array.from({ length: 4 }, () => hostRow(app.clock.iso())));
  const [, second, third, fourth] = hosts.map(({ id }) => id) as [number, number, number, number];
  await store.tx((tx) =>
    recordSettings(
      tx,
      "profiles",
      [second, third].map((id) => ({ id, status: "failed" })),
    ),
  );
  const moved = { team_id: team.id, hosts: [third, fourth] };
  expect((await app.post("/hosts/transfer", moved)).status).toBe(200);
  await store.tx((tx) => recordSettings(tx, "disk_encryption", [{ id: fourth, status: "verifying" }]));
  const summary = async (of: string) => (await app.get(`/configuration_profiles/summary${of}`)).json();
  expect(await summary("")).toEqual({ ...none, failed: 1 });
  expect(await summary(`?team_id=${team.id}`)).toEqual({ ...none, failed: 1, verifying: 1 });
  expect((await app.delete(`/teams/${team.id}`)).status).toBe(200);
  expect(await summary("")).toEqual({ ...none, failed: 2, verifying: 1 });
});

it.each(bothEngines)("counts rows that an older version wrote without a team (%s)", async (engine) => {
  const app = await startApp({ engine });
  apps.push(app);
  const { store } = app;
  const team = await makeTeam(app);
  const { id } = await store.hosts.insert(hostRow(app.clock.iso(), { team_id: team.id }));
  await store.hostSettings.insert({ id, profiles: "verified", status: "verified" });
  expect(await countSettings(store, team.id)).toEqual({ ...none, verified: 1 });
  expect(await countSettings(store, 0)).toEqual(none);
  await store.tx((tx) => recordSettings(tx, "profiles", [{ id, status: "verified" }]));
  expect(await store.hostSettings.get(id)).toMatchObject({ team: team.id });
  expect(await countSettings(store, team.id)).toEqual({ ...none, verified: 1 });
});
