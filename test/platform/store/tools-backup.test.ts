import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adminOf } from "../../../src/server/platform/store/admin.ts";
import { fileBlobs } from "../../../src/server/platform/store/blobs/files.ts";
import { createCipher, WrongKey } from "../../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { type Store, StoreDamaged, type Tables } from "../../../src/server/platform/store/store.ts";
import { id as ownId, table, text } from "../../../src/server/platform/store/table.ts";
import { backup } from "../../../src/server/platform/store/tools/backup.ts";
import { stateHash } from "../../../src/server/platform/store/tools/checksum.ts";
import { NotEmpty } from "../../../src/server/platform/store/tools/copy.ts";
import { restore } from "../../../src/server/platform/store/tools/restore.ts";
import { bothEngines } from "../../support/engines.ts";
import { type FreshDatabase, freshDatabase } from "../../support/postgres.ts";
import { fillStore } from "./fill.ts";
import { testTables } from "./tables.ts";

const cipher = createCipher(new Uint8Array(32).fill(7));
const now = new Date("2026-03-01T00:00:00Z");
describe("a backup", () => {
  let folder: string;
  let databases: FreshDatabase[];
  let stores: { close(): Promise<void> }[];
  let file: string;

  const open = async <S extends Tables>(engine: "lowdb" | "postgres", tables: S): Promise<Store<S>> => {
    const database = engine === "postgres" ? await freshDatabase() : null;
    if (database) databases.push(database);
    const store = database
      ? await openPostgres({ tables, url: database.url, cipher, create: true })
      : await openLowdb({ tables, dir: join(folder, `data${stores.length}`), cipher });
    stores.push(store);
    return store;
  };
  const blobsIn = (name: string) => fileBlobs(join(folder, name));
  const keysOf = async (name: string) => {
    const keys: string[] = [];
    for await (const key of blobsIn(name).list()) keys.push(key);
    return keys;
  };
  /** Creates a full store of the engine with two blobs, and backs it up to the file. */
  const made = async (engine: "lowdb" | "postgres") => {
    const store = await open(engine, testTables);
    await fillStore(store);
    const blobs = blobsIn("blobs");
    await blobs.put("carves/1/0", Readable.from([big.subarray(0, 1000), big.subarray(1000)]), { maxBytes: 1e9 });
    await blobs.put("empty", Readable.from([]), { maxBytes: 1 });
    const result = await backup({ store, blobs, cipher, file, now });
    return { store, result };
  };
  const big = Buffer.from(Array.from({ length: 700_001 }, (_, i) => (i * 31) % 256));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-backup-"));
    file = join(folder, "svc.backup");
    databases = [];
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(bothEngines.flatMap((from) => bothEngines.map((to) => [from, to] as const)))(
    "of %s is restored to %s with the same state and blobs",
    async (from, to) => {
      const { store, result } = await made(from);
      expect(result).toEqual({ rows: 1534, blobs: 2 });
      const target = await open(to, testTables);
      const restored = await restore({ file, store: target, blobs: blobsIn("restored"), cipher });

      expect(restored).toEqual({ rows: 1534, blobs: 2, created_at: now.toISOString() });
      expect(await stateHash(target)).toBe(await stateHash(store));
      expect(await keysOf("restored")).toEqual(["carves/1/0", "empty"]);
      expect((await buffer(await blobsIn("restored").get("carves/1/0"))).equals(big)).toBe(true);
    },
  );

  it("contains no secret in clear text, and only its owner can read it", async () => {
    await made("lowdb");
    const text = gunzipSync(await readFile(file)).toString();
    expect(text).toContain("host 9");
    expect(text).not.toContain("secret 9");
    if (process.platform !== "win32") expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("is refused by a server with another key", async () => {
    await made("lowdb");
    const target = await open("lowdb", testTables);
    const other = createCipher(new Uint8Array(32).fill(8));
    await expect(restore({ file, store: target, blobs: blobsIn("r"), cipher: other })).rejects.toThrow(WrongKey);
    expect(await target.teams.count()).toBe(0);
  });

  it("is refused if it is damaged anywhere, before anything is written", async () => {
    await made("lowdb");
    const whole = await readFile(file);
    const plain = gunzipSync(whole);
    const target = await open("lowdb", testTables);
    const at = (text: string) => plain.indexOf(text);
    const changed = (place: number, byte: string) => {
      const copy = Buffer.from(plain);
      copy.write(byte, place);
      return gzipSync(copy);
    };
    const lines = plain.toString().split("\n");
    const damages: Record<string, Buffer> = {
      "cut in the middle": whole.subarray(0, whole.length / 2),
      "cut at the end": whole.subarray(0, whole.length - 4),
      "a flipped byte": Buffer.from(whole.map((byte, i) => (i === 5000 ? byte ^ 1 : byte))),
      "another name": changed(at("host 17"), "most"),
      "another blob": changed(plain.lastIndexOf('["piece","') + 20, "AAAA"),
      "a line less": gzipSync(lines.toSpliced(40, 1).join("\n")),
      "no end": gzipSync(lines.slice(0, -2).join("\n")),
      "more after the end": gzipSync(`${plain}["row",[]]\n`),
      "no backup": gzipSync("hello\n"),
      "not even gzip": Buffer.from("hello"),
      nothing: Buffer.alloc(0),
    };
    for (const [what, bytes] of Object.entries(damages)) {
      await writeFile(file, bytes);
      await expect(restore({ file, store: target, blobs: blobsIn("r"), cipher }), what).rejects.toThrow(StoreDamaged);
      expect(await target.teams.count(), what).toBe(0);
      expect(await keysOf("r"), what).toEqual([]);
    }
  });

  it("can only be restored to an empty store", async () => {
    const { store } = await made("lowdb");
    await expect(restore({ file, store, blobs: blobsIn("r"), cipher })).rejects.toThrow(NotEmpty);
  });

  it("neither replaces nor deletes files that another server may use", async () => {
    await made("lowdb");
    const other = blobsIn("other");
    await other.put("empty", Readable.from([]), { maxBytes: 1 });
    await other.put("theirs", Readable.from([Buffer.from("x")]), { maxBytes: 1 });
    const target = await open("lowdb", testTables);
    expect(await restore({ file, store: target, blobs: other, cipher })).toMatchObject({ blobs: 2 });
    expect(await keysOf("other")).toEqual(["carves/1/0", "empty", "theirs"]);

    // "carves/1/0" comes before "empty" in the backup, and is removed when that one is refused.
    const conflicting = blobsIn("conflicting");
    await conflicting.put("empty", Readable.from([Buffer.from("not empty")]), { maxBytes: 100 });
    const second = await open("postgres", testTables);
    await expect(restore({ file, store: second, blobs: conflicting, cipher })).rejects.toThrow(
      "has another file empty",
    );
    expect(await keysOf("conflicting")).toEqual(["empty"]);
    expect((await buffer(await conflicting.get("empty"))).toString()).toBe("not empty");
    expect(await second.hosts.count()).toBe(0);
  });

  it("leaves neither rows nor blobs if the target refuses the rows", async () => {
    const { store } = await made("lowdb");
    const target = await open("postgres", testTables);
    const failing = adminOf(target);
    const original = failing.restore.bind(failing);
    Object.assign(failing, {
      restore: (work: Parameters<typeof original>[0]) =>
        original(async (into) => {
          await work(into);
          throw new Error("power cut");
        }),
    });
    await expect(restore({ file, store: target, blobs: blobsIn("r"), cipher })).rejects.toThrow("power cut");
    expect(await target.hosts.count()).toBe(0);
    expect(await keysOf("r")).toEqual([]);
    expect(await store.hosts.count()).toBe(600);
  });

  it("of an older svc gets defaults for new columns, and one of a newer svc is refused", async () => {
    const old = { notes: table("notes", { id: ownId(), body: text() }) };
    const later = { notes: table("notes", { id: ownId(), body: text(), colour: text().default("red") }) };
    const source = await open("lowdb", old);
    await source.notes.insert({ body: "a" });
    await backup({ store: source, blobs: blobsIn("none"), cipher, file, now });
    const target = await open("postgres", later);
    await restore({ file, store: target, blobs: blobsIn("r"), cipher });
    expect(await target.notes.list()).toEqual([{ id: 1, body: "a", colour: "red", revision: 1 }]);

    await backup({ store: target, blobs: blobsIn("none"), cipher, file, now });
    const older = await open("lowdb", old);
    await expect(restore({ file, store: older, blobs: blobsIn("r"), cipher })).rejects.toThrow(
      "a column notes.colour that this version does not have",
    );
  });
});
