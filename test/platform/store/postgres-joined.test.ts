// Statements of one transaction that are sent to Postgres together: with BEGIN, with a savepoint, or with each other.
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { ReferenceViolation, UniqueViolation } from "../../../src/server/platform/store/store.ts";
import { type FreshDatabase, freshDatabase } from "../../support/postgres.ts";
import { type TestTables, testTables } from "./tables.ts";

const FAIL_FAST = { failFast: true };

/** Without the probes of idle connections, which may fall between. */
const messagesOf = (calls: readonly (readonly unknown[])[]) =>
  calls.filter(([sent]) => String((sent as { text?: string }).text ?? sent) !== "SELECT 1");

describe("joined statements", () => {
  let database: FreshDatabase;
  let store: Awaited<ReturnType<typeof openPostgres<TestTables>>>;

  beforeEach(async () => {
    database = await freshDatabase();
    const cipher = createCipher(new Uint8Array(32).fill(7));
    // With one connection, every statement meets what earlier ones have prepared.
    store = await openPostgres({ tables: testTables, url: database.url, cipher, create: true, poolSize: 1 });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    await database.drop();
  });

  const names = async () => (await store.teams.pick(["name"])).map(({ name }) => name);

  it("return their own results, in the order in which they were requested", async () => {
    for (let round = 0; round < 4; round++) {
      const result = await store.tx(
        (tx) =>
          Promise.all([
            tx.teams.count(),
            tx.teams.insert({ name: `a ${round}` }),
            tx.teams.insertMany([{ name: `b ${round}` }, { name: `c ${round}` }]),
            tx.teams.update({ where: eq("name", `b ${round}`), set: { code: `code ${round}` } }),
            tx.teams.count(),
          ]),
        FAIL_FAST,
      );
      const [before, one, many, updated, after] = result;
      expect([before, updated, after]).toEqual([round * 3, 1, round * 3 + 3]);
      expect([one, ...many].map(({ name }) => name)).toEqual([`a ${round}`, `b ${round}`, `c ${round}`]);
    }
  });

  it("are one message to Postgres", async () => {
    const insert = (name: string) =>
      store.tx((tx) => Promise.all([tx.teams.count(), tx.teams.insert({ name })]), FAIL_FAST);
    await insert("first");
    const query = vi.spyOn(pg.Client.prototype, "query");
    await insert("second");
    // The other one is the COMMIT.
    expect(messagesOf(query.mock.calls)).toHaveLength(2);
    expect(await names()).toEqual(["first", "second"]);
  });

  it.each([true, false])("store nothing if the first of them fails (failFast: %s)", async (failFast) => {
    await store.teams.insert({ name: "taken" });
    for (let round = 0; round < 4; round++) {
      const failing = store.tx(
        async (tx) => {
          await tx.teams.insert({ name: "taken" });
        },
        { failFast, lock: "teams" },
      );
      await expect(failing).rejects.toThrow(UniqueViolation);
    }
    expect(await names()).toEqual(["taken"]);
    await store.tx((tx) => tx.teams.insert({ name: "free" }), FAIL_FAST);
    expect(await names()).toEqual(["taken", "free"]);
  });

  it("are undone together if one of them fails, and the others report it", async () => {
    const work = store.tx(
      (tx) =>
        Promise.allSettled([
          tx.teams.insert({ name: "before" }),
          tx.tags.insert({ host_id: 4711, label: "of no host" }),
          tx.teams.insert({ name: "after" }),
        ]),
      FAIL_FAST,
    );
    await expect(work).rejects.toThrow(ReferenceViolation);
    expect(await names()).toEqual([]);
  });

  it("keep what was written before a failed write that sends nothing", async () => {
    await store.tx(async (tx) => {
      await tx.teams.insert({ name: "kept" });
      await expect(tx.teams.insert({ name: 5 as never })).rejects.toThrow();
      await expect(tx.tags.insert({ host_id: 4711, label: "of no host" })).rejects.toThrow(ReferenceViolation);
      await tx.teams.insert({ name: "kept too" });
    });
    expect(await names()).toEqual(["kept", "kept too"]);
  });

  it("are not needed to wait for a lock", async () => {
    const other = await openPostgres({
      tables: testTables,
      url: database.url,
      cipher: createCipher(new Uint8Array(32).fill(7)),
      create: true,
    });
    try {
      const order: string[] = [];
      let waiting: Promise<void> | undefined;
      await store.tx(
        async (tx) => {
          await tx.teams.insert({ name: "first" });
          waiting = other.tx(async () => {}, { lock: "teams" }).then(() => void order.push("waited"));
          await other.check();
          order.push("ends");
        },
        { lock: "teams" },
      );
      await waiting;
      expect(order).toEqual(["ends", "waited"]);
    } finally {
      await other.close();
    }
  });

  it("are sent together if they follow from the same results, however many promises later", async () => {
    const later = async (promises: number) => {
      for (let i = 0; i < promises; i++) await null;
    };
    const work = (name: string) =>
      store.tx(async (tx) => {
        const count = await tx.teams.count();
        await Promise.all([
          tx.teams.insert({ name: `${name} ${count}` }),
          later(9).then(() => tx.teams.insert({ name: `${name} later` })),
        ]);
      }, FAIL_FAST);
    await work("first");
    const query = vi.spyOn(pg.Client.prototype, "query");
    await work("second");
    // BEGIN with the count, both writes, COMMIT.
    expect(messagesOf(query.mock.calls)).toHaveLength(3);
    expect(await names()).toEqual(["first 0", "first later", "second 2", "second later"]);
  });

  it("are one message without a transaction if they only read", async () => {
    await store.teams.insertMany([{ name: "a" }, { name: "b" }]);
    const read = () =>
      store.readTogether((reads) =>
        Promise.all([reads.teams.count(), reads.teams.pick(["name"], { where: eq("name", "b") })]),
      );
    for (let round = 0; round < 3; round++) expect(await read()).toMatchObject([2, [{ name: "b" }]]);
    const query = vi.spyOn(pg.Client.prototype, "query");
    await read();
    expect(messagesOf(query.mock.calls)).toHaveLength(1);
    vi.restoreAllMocks();
    await expect(store.readTogether((reads) => reads.teams.insert({ name: "c" }))).rejects.toThrow(/for reading only/);
    await expect(
      store.readTogether(async (reads) => {
        await reads.teams.count();
        throw new Error("of the caller");
      }),
    ).rejects.toThrow("of the caller");
    // Inside of a transaction, it sees what that has written.
    await store.tx(async (tx) => {
      await tx.teams.insert({ name: "c" });
      expect(await tx.readTogether((reads) => reads.teams.count())).toBe(3);
    });
    expect(await names()).toEqual(["a", "b", "c"]);
  });
});
