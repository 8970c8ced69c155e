// A store with rows of every kind, always the same.
import { eq, gt } from "../../../src/server/platform/store/query.ts";
import type { Store } from "../../../src/server/platform/store/store.ts";
import type { TestTables } from "./tables.ts";

export async function fillStore(store: Store<TestTables>): Promise<void> {
  const teams = await store.teams.insertMany([
    { name: "Ops", code: "o" },
    { name: "Größe \u{1F600} \uFF00" },
    { name: "gone" },
    { name: "gone too" },
  ]);
  const hosts = await store.hosts.insertMany(
    Array.from({ length: 600 }, (_, i) => ({
      name: `host ${i}`,
      team_id: i % 3 === 0 ? null : teams[i % 2]!.id,
      note: i % 5 === 0 ? null : `note "${i}" \\ {a,b}\n\t`,
      rank: i % 7 === 0 ? null : Number.MAX_SAFE_INTEGER - i,
      load: i / 3,
      online: i % 2 === 0,
      seen_at: i % 4 === 0 ? null : new Date(Date.UTC(2026, 0, 1) + i * 1001).toISOString(),
      facts: i % 6 === 0 ? [null, "x", { z: 1, a: { "10": true, "9": "\u0000" } }] : { i },
      token: i % 9 === 0 ? `secret ${i}` : null,
    })),
  );
  await store.details.insertMany(
    hosts
      .slice(0, 300)
      .map(({ id }) => ({ id, software: [id, 3, 1], users: id % 2 ? null : { list: "u".repeat(id * 10) } })),
  );
  await store.tags.insertMany(
    hosts.flatMap(({ id }) =>
      id <= 315
        ? [
            { host_id: id, label: "a" },
            { host_id: id, label: "b" },
          ]
        : [],
    ),
  );
  await store.locks.insertMany([
    { host_id: hosts[0]!.id, reason: "one" },
    { host_id: hosts[599]!.id, reason: "two" },
  ]);
  await store.hosts.update({ where: eq("online", true), set: { load: 7.25 } });
  await store.teams.delete(gt("id", teams[1]!.id));
}
