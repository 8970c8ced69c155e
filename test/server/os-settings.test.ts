// The status of a host's settings: the worst of its kinds, whoever changes which of them at the same time.
import { afterAll, expect, it } from "vitest";
import { recordSettings, type SettingKind, worstOf } from "../../src/server/os-settings/statuses.ts";
import { countSettings } from "../../src/server/os-settings/summary.ts";
import type { SettingStatus } from "../../src/server/os-settings/tables.ts";
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
