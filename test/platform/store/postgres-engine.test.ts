// Behaviour of this engine only: sessions, plans, other writers. The contract tests cover what both engines have in
// common.
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { eq, gt, lt, not, search } from "../../../src/server/platform/store/query.ts";
import { BadRow } from "../../../src/server/platform/store/rows.ts";
import { StoreUnavailable, UniqueViolation } from "../../../src/server/platform/store/store.ts";
import { type FreshDatabase, freshDatabase } from "../../support/postgres.ts";
import { type TestTables, testTables } from "./tables.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));
type OpenedStore = Awaited<ReturnType<typeof openPostgres<TestTables>>>;

describe("the Postgres store", () => {
  let database: FreshDatabase;
  let client: pg.Client;
  const stores: OpenedStore[] = [];
  const open = async (options: { poolSize?: number; leadEveryMs?: number; waitMs?: number } = {}) => {
    const store = await openPostgres({ tables: testTables, url: database.url, cipher, create: true, ...options });
    stores.push(store);
    return store;
  };
  const sessions = async (filter = "true") =>
    (
      await client.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${filter}`,
      )
    ).rows;
  const terminate = (filter = "true") =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${filter}`,
    );

  beforeEach(async () => {
    database = await freshDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await client.end();
    await database.drop();
  });

  it("encrypts secrets in the column, and does not write a row whose secret is unchanged", async () => {
    const store = await open();
    const [host] = await store.hosts.upsert([{ name: "a", token: "s3cret" }], { on: ["team_id", "name"] });
    const { rows } = await client.query(
      "SELECT token, row_to_json(t_hosts)::text AS whole, xmin::text AS written FROM t_hosts",
    );
    expect(rows[0].whole).not.toContain("s3cret");
    expect(cipher.open(rows[0].token)).toBe("s3cret");

    expect(await store.hosts.upsert([{ name: "a", token: "s3cret" }], { on: ["team_id", "name"] })).toEqual([host]);
    expect((await client.query("SELECT xmin::text AS written FROM t_hosts")).rows[0].written).toBe(rows[0].written);
    const [changed] = await store.hosts.upsert([{ name: "a", token: "other" }], { on: ["team_id", "name"] });
    expect(changed).toMatchObject({ token: "other", revision: 2 });
  });

  it("neither writes nor locks rows that an upsert leaves unchanged", async () => {
    const store = await open();
    const rows = Array.from({ length: 50 }, (_, i) => ({ name: `n${i}`, rank: i, facts: { b: 1, a: i } }));
    await store.hosts.upsert(rows, { on: ["team_id", "name"] });
    const state = async () =>
      (await client.query("SELECT array_agg(xmin::text || xmax::text ORDER BY id) AS state FROM t_hosts")).rows[0]
        .state;
    const was = await state();
    const again = await store.hosts.upsert([...rows.toReversed(), { name: "new" }], { on: ["team_id", "name"] });
    expect(again.map((row) => row.id)).toEqual([...Array.from({ length: 50 }, (_, i) => 50 - i), 51]);
    expect((await state()).slice(0, 50)).toEqual(was);
  });

  it("returns the same row to every writer if many upsert the same new rows at once", async () => {
    const store = await open({ poolSize: 8 });
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const shuffled = (by: number) => names.map((_, i) => names[(i * 7 + by * 3) % 40]!);
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, by) =>
        store.hosts.upsert(
          shuffled(by).map((name) => ({ name, rank: by })),
          { on: ["team_id", "name"] },
        ),
      ),
    );
    const ids = new Map<string, Set<number>>();
    for (const row of all.flat()) ids.set(row.name, (ids.get(row.name) ?? new Set()).add(row.id));
    expect(await store.hosts.count()).toBe(40);
    expect([...ids.values()].every((each) => each.size === 1)).toBe(true);
  });

  it("loads more rows than fit into one statement, all or none", async () => {
    const store = await open();
    const rows = Array.from({ length: 3500 }, (_, i) => ({ name: `n${i}`, rank: i }));
    await expect(store.hosts.insertMany([...rows, rows[0]!])).rejects.toThrow(UniqueViolation);
    expect(await store.hosts.count()).toBe(0);
    const kept = await store.hosts.insertMany(rows);
    expect(kept.map((row) => row.rank)).toEqual(rows.map((row) => row.rank));
    expect(kept.every((row, i) => i === 0 || row.id === kept[i - 1]!.id + 1)).toBe(true);
  });

  it("keeps what a transaction wrote before and after a failed write", async () => {
    const store = await open();
    await store.tx(async (tx) => {
      await tx.teams.insert({ name: "a" });
      await expect(tx.teams.insert({ name: "a" })).rejects.toThrow(UniqueViolation);
      await tx.teams.insert({ name: "b" });
      await expect(tx.teams.insertMany([{ name: "c" }, { name: "b" }])).rejects.toThrow(UniqueViolation);
      expect(await tx.teams.count()).toBe(2);
    });
    expect((await store.teams.pick(["name"])).map((team) => team.name)).toEqual(["a", "b"]);
  });

  it("refuses a transaction's store once the transaction has ended", async () => {
    const store = await open();
    const late = await store.tx(async (tx) => tx);
    await expect(late.teams.count()).rejects.toThrow("the transaction has ended");
  });

  it("repeats a transaction after a deadlock", async () => {
    const store = await open();
    await store.teams.insertMany([{ name: "a" }, { name: "b" }]);
    let runs = 0;
    let meet: () => void = () => undefined;
    const met = new Promise<void>((done) => {
      meet = done;
    });
    let waiting = 2;
    const cross = (first: string, second: string) =>
      store.tx(async (tx) => {
        runs++;
        await tx.teams.update({ where: eq("name", first), set: { code: first + runs } });
        if (--waiting === 0) meet();
        await met;
        await tx.teams.update({ where: eq("name", second), set: { code: second + runs } });
      });
    await Promise.all([cross("a", "b"), cross("b", "a")]);
    // More than three if the repeated one has its first row again before the other one could take it.
    expect(runs).toBeGreaterThanOrEqual(3);
    expect((await store.teams.list()).map((team) => team.revision)).toEqual([3, 3]);
  });

  it("runs transactions with a lock one after the other, on all servers", async () => {
    const [one, two] = [await open(), await open()];
    const add = (store: OpenedStore) =>
      store.tx(
        async (tx) => {
          const n = await tx.teams.count();
          await tx.teams.insert({ name: `team ${n}` });
        },
        { lock: "users" },
      );
    await Promise.all([one, two, one, two, one, two].map(add));
    expect((await one.teams.pick(["name"])).map((team) => team.name)).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => `team ${n}`),
    );
  });

  it("takes several locks in their order, at the beginning and inside a transaction", async () => {
    const [one, two] = [await open(), await open()];
    const many = Array.from({ length: 1200 }, (_, i) => `operations-${i}` as const);
    const add = async (tx: Parameters<Parameters<OpenedStore["tx"]>[0]>[0]) => {
      const n = await tx.teams.count();
      await tx.teams.insert({ name: `team ${n}` });
    };
    await Promise.all([
      one.tx(add, { lock: many }),
      two.tx((tx) => tx.tx(add, { lock: many.slice(1100) })),
      one.tx((tx) => tx.tx(add, { lock: [...many.slice(0, 3), "operations-1199"] })),
      two.tx(add, { lock: "operations-1199" }),
    ]);
    expect((await one.teams.pick(["name"])).map((team) => team.name)).toEqual([0, 1, 2, 3].map((n) => `team ${n}`));
  });

  it("survives the end of all its sessions", async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 6 }, () => store.teams.count()));
    await terminate();
    await expect.poll(sessions).toEqual([]);
    expect(await Promise.all([1, 2, 3, 4, 5, 6].map(() => store.teams.count()))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(await store.teams.insert({ name: "after" })).toMatchObject({ name: "after" });

    const slow = store.tx(async (tx) => {
      await tx.teams.insert({ name: "lost" });
      await terminate();
      await tx.teams.insert({ name: "lost too" });
    });
    await expect(slow).rejects.toThrow(StoreUnavailable);
    expect((await store.teams.pick(["name"])).map((team) => team.name)).toEqual(["after"]);
    await store.check();
  });

  it("throws StoreUnavailable if no connection is free in time, and loses none", async () => {
    const store = await open({ poolSize: 1, waitMs: 200 });
    let release: () => void = () => undefined;
    const hold = new Promise<void>((done) => {
      release = done;
    });
    const held = store.tx(() => hold);
    await expect(store.check()).rejects.toThrow(StoreUnavailable);
    await expect(store.teams.count()).rejects.toThrow(StoreUnavailable);
    release();
    await held;
    expect(await store.teams.count()).toBe(0);
  });

  it("keeps a limited number of prepared statements, however many queries are made", async () => {
    const store = await open({ poolSize: 1 });
    for (let n = 1; n < 500; n++)
      for (let twice = 0; twice < 3; twice++)
        await store.hosts.count({ op: "or", parts: Array(n % 450).fill(gt("rank", n)) });
    expect(store.stats().prepared_statements).toBeLessThanOrEqual(400);
    expect(store.stats().prepared_statements).toBeGreaterThan(300);
  });

  it("continues with a prepared statement whose table was changed by a migration", async () => {
    const store = await open({ poolSize: 1 });
    for (let i = 0; i < 4; i++) await store.teams.insert({ name: `t${i}` });
    await client.query("ALTER TABLE t_teams ALTER COLUMN code TYPE varchar(50)");
    expect(await store.teams.insert({ name: "t5" })).toMatchObject({ name: "t5", code: null });
  });

  it("compares values of a column with any number or text like the memory engine", async () => {
    const store = await open();
    await store.hosts.insertMany([
      { name: "a", rank: 1, seen_at: "2026-01-01T00:00:00.000Z" },
      { name: "b", rank: 2, seen_at: "2026-01-02T00:00:00.000Z" },
      { name: "c" },
    ]);
    const names = async (where: Parameters<typeof store.hosts.count>[0]) =>
      (await store.hosts.pick(["name"], { where })).map((row) => row.name).join("");
    expect(await names(lt("rank", 1.5))).toBe("a");
    expect(await names(gt("rank", 1.5))).toBe("b");
    expect(await names(not(gt("rank", 1.5)))).toBe("ac");
    expect(await names(lt("rank", Number.POSITIVE_INFINITY))).toBe("ab");
    expect(await names(eq("rank", 1.5))).toBe("");
    expect(await names(lt("seen_at", "2026-01-02"))).toBe("a");
    expect(await names(eq("seen_at", "not a time"))).toBe("");
    expect(await names(eq("name", "a\0"))).toBe("");
    expect(await names(search(["name", "note"], "%"))).toBe("");
  });

  it("reports text that is too long for its index as an invalid row", async () => {
    const store = await open();
    const long = Array.from({ length: 4000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20000))).join("");
    await expect(store.teams.insert({ name: long })).rejects.toThrow(BadRow);
    expect(await store.teams.count()).toBe(0);
  });

  it("notifies listeners on all servers after the commit, and not before", async () => {
    const [one, two] = [await open(), await open()];
    const heard: string[] = [];
    const stop = await two.listen("news", (payload) => heard.push(payload));
    await one.listen("other", () => heard.push("wrong channel"));
    await one.tx(async (tx) => {
      await tx.notify("news", "in tx");
      await one.notify("news", "beside");
      await expect.poll(() => heard).toEqual(["beside"]);
    });
    await expect.poll(() => heard).toEqual(["beside", "in tx"]);
    await expect(one.tx(async (tx) => Promise.reject(await tx.notify("news", "rolled back")))).rejects.toBeUndefined();
    await stop();
    await one.notify("news", "after the end");
    await one.teams.count();
    expect(heard).toEqual(["beside", "in tx"]);
    await expect(one.notify("news", "x".repeat(7001))).rejects.toThrow("7000");
  });

  it("reads times of any year and with any milliseconds as they were written", async () => {
    const store = await open();
    const times = ["0000", "0001", "1999", "2026", "9999"].flatMap((year) =>
      ["000", "001", "010", "100", "120", "123", "999"].map((fraction) => `${year}-12-31T23:59:58.${fraction}Z`),
    );
    await store.hosts.insertMany(times.map((seen_at, i) => ({ name: `host ${i}`, token: "t", seen_at })));
    const rows = await store.hosts.list({ order: [{ column: "seen_at", direction: "asc" }] });
    expect(rows.map(({ seen_at }) => seen_at)).toEqual(times);
  });

  it("stores nothing if a message of the transaction is refused, and can go on", async () => {
    const store = await open({ poolSize: 1 });
    const tooLong = "c".repeat(64);
    const writing = store.tx(async (tx) => {
      await tx.hosts.insert({ name: "a", token: "t" });
      await tx.notify(tooLong, "x");
    });
    await expect(writing).rejects.toThrow("channel name too long");
    expect(await store.hosts.count()).toBe(0);
    const quoted = 'it\'s \\ a "message"';
    const received: string[] = [];
    const end = await store.listen("quotes", (payload) => void received.push(payload));
    await store.tx(async (tx) => {
      await tx.hosts.insert({ name: "b", token: "t" });
      await tx.notify("quotes", quoted);
      await tx.notify("quotes", "second");
    });
    expect(await store.hosts.count()).toBe(1);
    await expect.poll(() => received, { timeout: 10_000 }).toEqual([quoted, "second"]);
    await end();
  });

  it("listens again after its session was lost, and reports that messages may be missing", async () => {
    const store = await open();
    const heard: string[] = [];
    const reset = vi.fn();
    await store.listen("news", (payload) => heard.push(payload), reset);
    await terminate("query LIKE 'LISTEN%'");
    await expect.poll(() => reset.mock.calls.length).toBe(1);
    await store.notify("news", "again");
    await expect.poll(() => heard).toEqual(["again"]);
  });

  it("has one leader, and another when the leader's session is lost", async () => {
    const led: string[] = [];
    const lost: string[] = [];
    const campaign = (store: OpenedStore, who: string) =>
      store.lead("jobs", async (signal) => {
        led.push(who);
        await new Promise<void>((done) => signal.addEventListener("abort", () => done()));
        lost.push(who);
      });
    const [one, two] = [await open({ leadEveryMs: 50 }), await open({ leadEveryMs: 50 })];
    const endOne = await campaign(one, "one");
    await expect.poll(() => led).toEqual(["one"]);
    await campaign(two, "two");
    await new Promise((done) => setTimeout(done, 200));
    expect(led).toEqual(["one"]);

    await terminate("pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)");
    await expect.poll(() => lost).toEqual(["one"]);
    await expect.poll(() => led.length).toBe(2);
    await endOne();
    await expect.poll(() => led.at(-1)).toBe("two");
  });
});
