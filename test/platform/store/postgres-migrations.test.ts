import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { describeSchema } from "../../../src/server/platform/store/postgres/describe.ts";
import { evolve, NeedsHand } from "../../../src/server/platform/store/postgres/evolve.ts";
import { create, migrate, migrationState } from "../../../src/server/platform/store/postgres/migrate.ts";
import { migrations } from "../../../src/server/platform/store/postgres/migrations/index.ts";
import type { Migration } from "../../../src/server/platform/store/postgres/migrations/migration.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import type { Tables } from "../../../src/server/platform/store/store.ts";
import { id, ids, int, json, packed, ref, table, text, time } from "../../../src/server/platform/store/table.ts";
import { tables as declared } from "../../../src/server/tables.ts";
import { type FreshDatabase, freshDatabase } from "../../support/postgres.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));

const rooms = table("rooms", { id: id(), name: text().unique() });
const things = table("things", { id: id(), name: text(), room_id: ref("rooms").nullable() });
const before = { rooms, things };
const after = {
  rooms: table("rooms", {
    id: id(),
    name: text().unique(),
    floor: int().default(0).index(),
    opened_at: time().nullable(),
  }),
  things: table(
    "things",
    {
      id: id(),
      name: text().search(),
      room_id: ref("rooms").nullable(),
      owner_id: ref("people").nullable().onDelete("cascade"),
      tags: ids("labels").default([]),
      data: packed<object>().nullable(),
      parts: packed<string[]>().default(["it's", "\\x"]),
      options: json<object>().default({ a: "it's" }),
    },
    { unique: [["room_id", "name"]], indexes: [["name", "room_id"]] },
  ),
  people: table("people", { id: id(), email: text().unique() }),
};

describe("migrations", () => {
  const databases: FreshDatabase[] = [];
  const clients: pg.Client[] = [];
  let database: FreshDatabase;

  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    clients.push(client);
    await client.connect();
    return client;
  };
  const fresh = async () => {
    const made = await freshDatabase();
    databases.push(made);
    return made;
  };
  const schemaOf = async (prepare: (client: pg.Client) => Promise<unknown>) => {
    const client = await connect((await fresh()).url);
    await prepare(client);
    return describeSchema(client);
  };
  const made = (tables: Tables) => schemaOf((client) => create(client, tables));
  const first = async (): Promise<Migration> => {
    const { quick } = evolve(before, new Map(), await made(before));
    return { number: 1, name: "initial", transactional: true, statements: quick };
  };

  beforeEach(async () => {
    database = await fresh();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    for (const each of databases.splice(0)) await each.drop();
  });

  it("create exactly the schema that the tables declare", async () => {
    const migrated = await schemaOf((client) => migrate(client, declared, migrations));
    expect(Object.fromEntries(migrated)).toEqual(Object.fromEntries(await made(declared)));
  });

  it("convert rows of the old schema to the new one", async () => {
    const client = await connect(database.url);
    const initial = await first();
    await migrate(client, before, [initial]);
    await client.query(
      `INSERT INTO rooms (name) VALUES ('Hall'); INSERT INTO things (name, room_id) VALUES ('CHAIR', 1)`,
    );

    const wanted = await made(after);
    const { quick, slow } = evolve(after, await describeSchema(client), wanted);
    const next: Migration[] = [
      { number: 2, name: "more", transactional: true, statements: quick },
      { number: 3, name: "more-slow", transactional: false, statements: slow },
    ];
    expect(await migrate(client, after, [initial, ...next])).toEqual({
      applied: ["0002-more", "0003-more-slow"],
      trigram: true,
    });

    expect(Object.fromEntries(await describeSchema(client))).toEqual(Object.fromEntries(wanted));
    const store = await openPostgres({ tables: after, url: database.url, cipher, migrations: [initial, ...next] });
    expect(await store.things.list()).toEqual([
      {
        id: 1,
        name: "CHAIR",
        room_id: 1,
        owner_id: null,
        tags: [],
        data: null,
        parts: ["it's", "\\x"],
        options: { a: "it's" },
        revision: 1,
      },
    ]);
    expect(await store.things.count({ op: "search", columns: ["name"], text: "haI" })).toBe(1);
    await store.close();
  });

  it("are not generated if old rows would have no value", async () => {
    const changed = { rooms: table("rooms", { id: id(), name: text().unique(), key: text() }), things };
    expect(evolve(before, await made(before), await made(before))).toEqual({ quick: [], slow: [] });
    const [now, wanted] = [await made(before), await made(changed)];
    expect(() => evolve(changed, now, wanted)).toThrow(NeedsHand);
  });

  it("make a column nullable", async () => {
    const wider = { rooms: table("rooms", { id: id(), name: text().nullable().unique() }) };
    const narrow = { rooms: table("rooms", { id: id(), name: text().unique() }) };
    const [now, wanted] = [await made(narrow), await made(wider)];
    const { quick, slow } = evolve(wider, now, wanted);
    const after = await schemaOf(async (client) => {
      await create(client, narrow);
      for (const statement of quick) await client.query(statement);
    });
    expect([slow, Object.fromEntries(after)]).toEqual([[], Object.fromEntries(wanted)]);
    // In the other direction, some rows may have no value.
    expect(() => evolve(narrow, wanted, now)).toThrow(NeedsHand);
  });

  it("run once if several servers start together", async () => {
    const initial = await first();
    const options = { tables: before, url: database.url, cipher, migrate: true, migrations: [initial], poolSize: 2 };
    const stores = await Promise.all([1, 2, 3, 4, 5].map(() => openPostgres(options)));
    const added = await Promise.all(stores.map((store, i) => store.rooms.insert({ name: `room ${i}` })));
    expect(new Set(added.map((room) => room.id)).size).toBe(5);
    const client = await connect(database.url);
    expect((await client.query("SELECT number, name FROM svc_migrations")).rows).toEqual([
      { number: 1, name: "initial" },
    ]);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("leave no trace of a failed step", async () => {
    const client = await connect(database.url);
    const initial = await first();
    const bad: Migration = {
      number: 2,
      name: "bad",
      transactional: true,
      statements: ["CREATE TABLE halfway (id int)", "SELECT 1 / 0"],
    };
    await expect(migrate(client, before, [initial, bad])).rejects.toThrow("division by zero");
    expect(
      (await client.query("SELECT to_regclass('halfway') AS halfway, to_regclass('things') AS things")).rows,
    ).toEqual([{ halfway: null, things: "things" }]);
    expect((await client.query("SELECT number FROM svc_migrations")).rows).toEqual([{ number: 1 }]);
  });

  it("refuse a database that is newer, changed, or not migrated", async () => {
    const initial = await first();
    const open = (migrations: Migration[]) => openPostgres({ tables: before, url: database.url, cipher, migrations });
    await expect(open([initial])).rejects.toThrow("run: svc db migrate");

    const client = await connect(database.url);
    await migrate(client, before, [
      initial,
      { number: 2, name: "later", transactional: true, statements: ["SELECT 1"] },
    ]);
    await expect(open([initial])).rejects.toThrow("newer svc (migration 2, later)");
    const changed = { number: 2, name: "later", transactional: true, statements: ["SELECT 2"] };
    await expect(open([initial, changed])).rejects.toThrow("0002-later differs from the one");
  });

  it("refuse a database from before the first release, with how to move its data", async () => {
    const client = await connect(database.url);
    await migrate(client, before, [await first()]);
    await client.query("INSERT INTO svc_migrations VALUES (121, 'policy-mails', 'the checksum of another program')");
    const message = /before the first release.*svc db backup.*svc db restore/;
    await expect(openPostgres({ tables: declared, url: database.url, cipher })).rejects.toThrow(message);
    await expect(openPostgres({ tables: declared, url: database.url, cipher, migrate: true })).rejects.toThrow(message);
    await expect(migrationState(database.url)).rejects.toThrow(message);
    expect((await client.query("SELECT number FROM svc_migrations ORDER BY number")).rows).toEqual([
      { number: 1 },
      { number: 121 },
    ]);
  });

  it("wait for a lock without blocking others, and then continue", async () => {
    const client = await connect(database.url);
    const initial = await first();
    await migrate(client, before, [initial]);
    const reader = await connect(database.url);
    await reader.query("BEGIN; SELECT * FROM things");
    const adding = migrate(client, before, [
      initial,
      { number: 2, name: "add", transactional: true, statements: ["ALTER TABLE things ADD COLUMN more int"] },
    ]);
    const other = await connect(database.url);
    await other.query("SET statement_timeout = '30s'");
    await new Promise((done) => setTimeout(done, 300));
    // Queued behind the migration's lock request, which gives up in time to let it pass.
    expect((await other.query("SELECT count(*)::int AS n FROM things")).rows).toEqual([{ n: 0 }]);
    await reader.query("COMMIT");
    expect((await adding).applied).toEqual(["0002-add"]);
  });

  it("work without text search indexes if these are unavailable, and add them later", async () => {
    const client = await connect(database.url);
    const searched = { notes: table("notes", { id: id(), body: text().search() }) };
    const { quick } = evolve(searched, new Map(), await made(searched));
    const initial: Migration = { number: 1, name: "initial", transactional: true, statements: quick };
    const indexes = async () =>
      (await client.query("SELECT count(*)::int AS n FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'")).rows[0].n;

    await client.query("CREATE ROLE plain LOGIN").catch(() => undefined);
    const { database: named } = client;
    await client.query(`GRANT ALL ON SCHEMA public TO plain; REVOKE CREATE ON DATABASE "${named}" FROM plain, PUBLIC`);
    const url = new URL(database.url);
    url.username = "plain";
    const plain = await connect(url.href);
    expect((await migrate(plain, searched, [initial])).trigram).toBe(false);
    expect(await indexes()).toBe(0);
    const store = await openPostgres({ tables: searched, url: database.url, cipher, migrations: [initial] });
    await store.notes.insert({ body: "Straße" });
    expect(await store.notes.count({ op: "search", columns: ["body"], text: "STRAßE" })).toBe(1);
    await store.close();

    await client.query("CREATE EXTENSION pg_trgm");
    expect((await migrate(plain, searched, [initial])).trigram).toBe(true);
    expect(await indexes()).toBe(1);
  });

  it("refuse a server with another key before reading anything", async () => {
    const initial = await first();
    const options = { tables: before, url: database.url, migrations: [initial] };
    await (await openPostgres({ ...options, cipher, migrate: true })).close();
    const other = createCipher(new Uint8Array(32).fill(8));
    await expect(openPostgres({ ...options, cipher: other })).rejects.toThrow(/encrypted with a different server key/);
    await (await openPostgres({ ...options, cipher })).close();
  });
});
