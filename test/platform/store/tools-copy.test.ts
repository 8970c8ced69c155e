import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adminOf } from "../../../src/server/platform/store/admin.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { ReferenceViolation, type Store } from "../../../src/server/platform/store/store.ts";
import { checkStore } from "../../../src/server/platform/store/tools/check.ts";
import { stateHash } from "../../../src/server/platform/store/tools/checksum.ts";
import { CopyDiffers, copyStore, NotEmpty } from "../../../src/server/platform/store/tools/copy.ts";
import { bothEngines } from "../../support/engines.ts";
import { type FreshDatabase, freshDatabase } from "../../support/postgres.ts";
import { fillStore } from "./fill.ts";
import { type TestTables, testTables } from "./tables.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));
type Engine = (typeof bothEngines)[number];

describe("copying a store", () => {
  let folder: string;
  let databases: FreshDatabase[];
  let stores: Store<TestTables>[];

  const open = async (engine: Engine) => {
    const store =
      engine === "lowdb"
        ? await openLowdb({ tables: testTables, dir: join(folder, `data${stores.length}`), cipher })
        : await postgres();
    stores.push(store);
    return store;
  };
  const postgres = async () => {
    const database = await freshDatabase();
    databases.push(database);
    return openPostgres({ tables: testTables, url: database.url, cipher, create: true });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-copy-"));
    databases = [];
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(bothEngines.flatMap((from) => bothEngines.map((to) => [from, to] as const)))(
    "from %s to %s keeps every row, revision and next id",
    async (from, to) => {
      const [source, target] = [await open(from), await open(to)];
      await fillStore(source);
      const before = await stateHash(source);
      const seen: string[] = [];
      const copied = await copyStore(source, target, {
        onProgress: ({ table, phase }) => seen.push(`${phase} ${table}`),
      });

      expect(copied).toEqual({ tables: 5, rows: 1534 });
      expect(await stateHash(target)).toBe(before);
      expect(await stateHash(source)).toBe(before);
      expect(new Set(seen).size).toBe(10);
      expect(await target.hosts.list({ limit: 3 })).toEqual(await source.hosts.list({ limit: 3 }));
      expect(await checkStore(target)).toEqual({ ...(await checkStore(source)), problems: [] });
      // The last rows were deleted: their ids are not used again.
      const [one, other] = [await source.teams.insert({ name: "next" }), await target.teams.insert({ name: "next" })];
      expect(other.id).toBe(one.id);
      expect(await stateHash(target)).toBe(await stateHash(source));
    },
  );

  it.each(bothEngines)("to %s is refused if the target is not empty", async (to) => {
    const [source, target] = [await open("lowdb"), await open(to)];
    await fillStore(source);
    await target.teams.insert({ name: "mine" });
    await expect(copyStore(source, target)).rejects.toThrow(NotEmpty);
    expect(await target.hosts.count()).toBe(0);
  });

  it.each(bothEngines)("to %s leaves nothing if a reference is invalid", async (to) => {
    const target = await open(to);
    const filling = adminOf(target).restore(async (into) => {
      await into.rows("t_teams", [{ id: 1, name: "a", code: null, revision: 1 }]);
      await into.rows("t_tags", [{ id: 1, host_id: 99, label: "x", revision: 1 }]);
    });
    await expect(filling).rejects.toThrow(ReferenceViolation);
    expect(await target.teams.count()).toBe(0);
    await expect(target.tags.insert({ host_id: 99, label: "x" })).rejects.toThrow(ReferenceViolation);
  });

  it.each(bothEngines)("the checksum of %s changes with each value, revision and next id", async (engine) => {
    const store = await open(engine);
    await fillStore(store);
    const hashes = [await stateHash(store)];
    const again = async () => void hashes.push(await stateHash(store));
    await store.hosts.update({ where: eq("id", 1), set: { token: "changed" } });
    await again();
    await store.hosts.update({ where: eq("id", 1), set: { token: "changed" } });
    await again();
    const team = await store.teams.insert({ name: "short-lived" });
    await store.teams.delete(eq("id", team.id));
    await again();
    expect(new Set(hashes).size).toBe(4);
  });

  it("detects a target that does not store the data correctly", async () => {
    const [source, target] = [await open("lowdb"), await open("postgres")];
    await fillStore(source);
    /** A copy of an object in which one member is another one. Methods are called on the object itself, which has private fields. */
    const withMember = <T extends object>(object: T, name: keyof T, member: unknown): T =>
      new Proxy(object, {
        get(on, key) {
          const value: unknown = key === name ? member : Reflect.get(on, key);
          return typeof value === "function" && key !== name ? value.bind(on) : value;
        },
      });
    const pages = source.tags.pages.bind(source.tags);
    const spoiling = withMember(target, "details", withMember(target.details, "pages", pages));
    await expect(copyStore(source, spoiling)).rejects.toThrow(CopyDiffers);
  });
});
