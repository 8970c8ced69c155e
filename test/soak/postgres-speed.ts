// The speed of the Postgres store for a server's most frequent operations: tsx test/soak/postgres-speed.ts [rows]
import pg from "pg";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { eq, exists, gt, type OrderTerm, type Select, search } from "../../src/server/platform/store/query.ts";
import { bool, id, idOf, int, json, packed, ref, table, text, time } from "../../src/server/platform/store/table.ts";
import { startPostgres } from "../support/postgres-server.ts";

const teams = table("teams", { id: id(), name: text().unique() });
const hosts = table("hosts", {
  id: id(),
  uuid: text().unique(),
  hostname: text().search().index(),
  serial: text().search(),
  team_id: ref("teams").nullable(),
  platform: text().index(),
  memory: int().nullable().index(),
  online: bool().default(false),
  enrolled_at: time().index(),
  info: json<object>().default({}),
});
const seen = table("host_seen", { id: idOf("hosts"), seen_time: time().index() });
const details = table("host_details", { id: idOf("hosts"), data: packed<object>() });
const results = table(
  "results",
  { id: id(), host_id: ref("hosts"), policy_id: int().index(), passes: bool() },
  { unique: [["host_id", "policy_id"]] },
);
const tables = { teams, hosts, seen, details, results };

const total = Number(process.argv[2] ?? 100_000);
const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const host = (n: number) => ({
  uuid: `uuid-${n}`,
  hostname: `host-${(n * 7919) % total}.example.com`,
  serial: `SN${(n * 104729) % 1e9}`,
  team_id: n % 3 === 0 ? null : (n % 10) + 1,
  platform: ["darwin", "windows", "ubuntu"][n % 3]!,
  memory: n % 11 === 0 ? null : (n % 64) * 1024,
  enrolled_at: at(n * 1000),
  info: { n, os: "x".repeat(40) },
});

const server = await startPostgres({ fsync: true, settings: { shared_buffers: "512MB" } });
try {
  const store = await openPostgres({
    tables,
    url: await server.createDatabase("speed"),
    cipher: createCipher(new Uint8Array(32).fill(1)),
    create: true,
  });
  await store.teams.insertMany(Array.from({ length: 10 }, (_, n) => ({ name: `team ${n}` })));

  const rate = async (what: string, count: number, work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    const seconds = (performance.now() - started) / 1000;
    console.log(`${what}: ${Math.round(count / seconds)}/s`);
  };
  const times = async (what: string, work: (n: number) => Promise<unknown>, runs = 100) => {
    const taken: number[] = [];
    for (let n = 0; n < runs; n++) {
      const started = performance.now();
      await work(n);
      taken.push(performance.now() - started);
    }
    taken.sort((a, b) => a - b);
    console.log(
      `${what}: p50 ${taken[runs >> 1]!.toFixed(2)} ms, p95 ${taken[Math.floor(runs * 0.95)]!.toFixed(2)} ms`,
    );
  };

  await rate(`insert of ${total} hosts`, total, async () => {
    for (let n = 0; n < total; n += 1000)
      await store.hosts.insertMany(Array.from({ length: Math.min(1000, total - n) }, (_, i) => host(n + i)));
  });
  const all = await store.hosts.pick(["id"]);
  await store.seen.insertMany(all.map((row, n) => ({ id: row.id, seen_time: at(((n * 7919) % total) * 1000) })));
  await store.results.insertMany(all.map((row, n) => ({ host_id: row.id, policy_id: n % 20, passes: n % 7 === 0 })));
  const client = new pg.Client({ connectionString: server.url("speed") });
  await client.connect();
  await client.query("VACUUM ANALYZE");
  await client.end();

  const batch = (n: number, change: number) =>
    Array.from({ length: 500 }, (_, i) => ({ ...host((n * 500 + i) % total), memory: change }));
  await rate("upserts of 500 rows, all unchanged, rows", 20_000, async () => {
    for (let n = 0; n < 40; n++)
      await store.hosts.upsert(
        Array.from({ length: 500 }, (_, i) => host((n * 500 + i) % total)),
        { on: ["uuid"] },
      );
  });
  await rate("upserts of 500 rows, all changed, rows", 20_000, async () => {
    for (let n = 0; n < 40; n++) await store.hosts.upsert(batch(n, 7), { on: ["uuid"] });
  });
  await rate("upserts of 500 rows, all new, rows", 20_000, async () => {
    for (let n = 0; n < 40; n++)
      await store.hosts.upsert(
        Array.from({ length: 500 }, (_, i) => ({ ...host(n), uuid: `new ${n} ${i}` })),
        { on: ["uuid"] },
      );
  });
  await store.hosts.delete(gt("id", all.at(-1)!.id));
  const changing = async (n: number) => store.hosts.upsert([{ ...host(n), memory: 9 }], { on: ["uuid"] });
  await rate("point upserts that change a row, one after the other", 2000, async () => {
    for (let n = 0; n < 2000; n++) await changing((50_000 % total) + n);
  });
  await rate("point upserts that change a row, 32 at once", 8000, () =>
    Promise.all(
      Array.from({ length: 32 }, async (_, by) => {
        for (let n = 0; n < 250; n++) await changing(((60_000 % total) + by * 250 + n) % total);
      }),
    ),
  );
  await rate("point upserts that change nothing, 32 at once", 16_000, () =>
    Promise.all(
      Array.from({ length: 32 }, async (_, by) => {
        for (let n = 0; n < 500; n++)
          await store.hosts.upsert(
            [
              {
                uuid: host(by).uuid,
                hostname: host(by).hostname,
                serial: host(by).serial,
                platform: host(by).platform,
                enrolled_at: host(by).enrolled_at,
              },
            ],
            { on: ["uuid"] },
          );
      }),
    ),
  );
  await rate("last-seen times in batches of 1000, rows", 50_000, async () => {
    for (let n = 0; n < 50; n++)
      await store.seen.updateEach(
        all
          .slice((n * 1000) % total, ((n * 1000) % total) + 1000)
          .map((row) => ({ id: row.id, seen_time: at(1e9 + n) })),
      );
  });
  await rate("get by id, 32 at once", 16_000, () =>
    Promise.all(
      Array.from({ length: 32 }, async (_, by) => {
        for (let n = 0; n < 500; n++) await store.hosts.get(all[(by * 500 + n) % all.length]!.id);
      }),
    ),
  );

  const order = (column: string, direction: "asc" | "desc", more: Partial<OrderTerm> = {}): OrderTerm[] => [
    { column, direction, ...more },
  ];
  const lists: Record<string, Select> = {
    "by id": {},
    "by hostname": { order: order("hostname", "asc") },
    "by hostname descending, one team": { order: order("hostname", "desc"), where: eq("team_id", 4) },
    "by memory (nullable) ascending": { order: order("memory", "asc") },
    "by memory (nullable) descending": { order: order("memory", "desc") },
    "by last seen (side table) ascending": { order: order("seen_time", "asc", { of: seen, on: "id" }) },
    "by last seen (side table) descending": { order: order("seen_time", "desc", { of: seen, on: "id" }) },
    "by team name ascending": { order: order("name", "asc", { of: teams, on: "team_id" }) },
    "by team name descending": { order: order("name", "desc", { of: teams, on: "team_id" }) },
    "by two terms": { order: [...order("platform", "asc"), ...order("memory", "desc")] },
    "with a failing policy, by hostname": {
      order: order("hostname", "asc"),
      where: exists(results, "host_id", { op: "and", parts: [eq("policy_id", 4), eq("passes", false)] }),
    },
    "search of one host in two columns": {
      where: search(["hostname", "serial"], "host-4711.ex"),
      order: order("hostname", "asc"),
    },
    "search that finds many": { where: search(["hostname", "serial"], "example"), order: order("hostname", "asc") },
    "search of two letters": { where: search(["hostname", "serial"], "-4"), order: order("hostname", "asc") },
    "search that finds none": {
      where: search(["hostname", "serial"], "no such host"),
      order: order("hostname", "asc"),
    },
  };
  for (const [what, select] of Object.entries(lists)) {
    await times(`first 50 ${what}`, () => store.hosts.list({ ...select, limit: 50 }), 40);
    const there = await store.hosts.list({ ...select, limit: 1, offset: Math.floor(total * 0.6) });
    if (!there[0]) continue;
    const after = await store.hosts.positionOf(there[0], select.order ?? []);
    await times(
      `  ... 50 after the ${Math.floor(total * 0.6)}th`,
      () => store.hosts.list({ ...select, limit: 50, after }),
      40,
    );
  }
  await times("count of all", () => store.hosts.count(), 20);
  await times("count of a search", () => store.hosts.count(search(["hostname", "serial"], "host-47")), 20);
  await times("hosts by platform", () => store.hosts.groupCount("platform"), 20);
  await store.close();
} finally {
  await server.destroy();
}
