// Rotation of the server key: all secrets are encrypted again, wherever it is interrupted.
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { knownKey, openDataPlace } from "../../../src/server/data-places.ts";
import { countSecrets } from "../../../src/server/data-tools.ts";
import { openStore } from "../../../src/server/open-data.ts";
import { keepNextServerKey, newServerKey } from "../../../src/server/platform/core/security/server-key.ts";
import { Settings } from "../../../src/server/platform/core/settings/settings.ts";
import type { ServerStore } from "../../../src/server/platform/core/tables.ts";
import { createCipher, WrongKey } from "../../../src/server/platform/store/cipher.ts";
import { StoreInUse } from "../../../src/server/platform/store/key-rotation.ts";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { rotateLowdb } from "../../../src/server/platform/store/lowdb/rotate.ts";
import { rotatePostgres } from "../../../src/server/platform/store/postgres/rotate.ts";
import { id, table, text } from "../../../src/server/platform/store/table.ts";
import { rotateKey } from "../../../src/server/rotate-key.ts";
import { tables } from "../../../src/server/tables.ts";
import { bothEngines } from "../../support/engines.ts";
import { FaultDisk, seeded } from "../../support/fault-files.ts";
import { freshDatabase } from "../../support/postgres.ts";

const log = pino({ level: "silent" });
const NOW = "2026-03-01T12:00:00.000Z";
const SECRETS = 1206;

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "svc-key-"));
  undo.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function fill(store: ServerStore): Promise<void> {
  await store.enrollSecrets.insertMany(
    Array.from({ length: SECRETS - 5 }, (_, i) => ({
      created_at: NOW,
      secret: `secret ${i}`,
      secret_hash: `hash ${i}`,
    })),
  );
  await store.serverSecrets.insertMany(
    ["a", "b"].map((name) => ({ name, created_at: NOW, value: `value of ${name}` })),
  );
  await store.deviceCas.insert({ created_at: NOW, certificate: "MII", key: "the key of the device CA" });
  await store.agentSigningKeys.insert({ created_at: NOW, key: "the key of updates" });
  const row = { updated_at: NOW, value: {} };
  await store.configSections.insertMany([
    { ...row, section: "smtp_settings", secrets: '{"password":"grün"}' },
    { ...row, section: "org_info", secrets: null },
  ]);
}

const contentOf = async (store: ServerStore) => ({
  ca: (await store.deviceCas.list()).map(({ certificate, key }) => [certificate, key]),
  updates: (await store.agentSigningKeys.list()).map(({ key }) => key),
  enroll: (await store.enrollSecrets.list()).map(({ id: key, secret }) => [key, secret]),
  server: (await store.serverSecrets.list()).map(({ name, value }) => [name, value]),
  config: (await store.configSections.list()).map(({ section, secrets }) => [section, secrets]),
});

async function filesOf(dir: string): Promise<string> {
  const parts: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) parts.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
  return parts.join("\n");
}

async function dumpOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const parts: string[] = [];
    for (const name of ["enroll_secrets", "server_secrets", "config_sections", "svc_meta"])
      parts.push(JSON.stringify((await client.query(`SELECT * FROM ${name}`)).rows));
    return parts.join("\n");
  } finally {
    await client.end();
  }
}

describe.each(bothEngines)("the rotation of the server key on %s", (engine) => {
  async function start() {
    const dataDir = await newDir();
    let place = dataDir;
    if (engine === "postgres") {
      const database = await freshDatabase();
      undo.push(() => database.drop());
      place = database.url;
    }
    const where = { place, dataDir, env: {} };
    const opened = await openDataPlace({ ...where, log, create: true, migrate: true });
    await fill(opened.store);
    const before = await contentOf(opened.store);
    await opened.store.close();
    const old = opened.key;
    const settings = Settings.parse({ data_dir: dataDir, ...(engine === "postgres" ? { database_url: place } : {}) });
    return {
      where,
      before,
      dataDir,
      old,
      names: async () => (await readdir(dataDir)).filter((name) => name.startsWith("server.key")).sort(),
      /** Opens the store like a server. */
      serve: () => openStore(settings, log),
      read: async () => {
        const store = await openStore(settings, log);
        return contentOf(store).finally(() => store.close());
      },
      stored: () => (engine === "postgres" ? dumpOf(place) : filesOf(join(dataDir, "db"))),
    };
  }
  const run = (
    where: { place: string; dataDir: string; env: object },
    more: Partial<Parameters<typeof rotateKey>[0]> = {},
  ) => rotateKey({ ...where, env: {}, newKey: null, keepOld: false, ...more });

  it("encrypts every secret again, and replaces the key file", async () => {
    const { where, before, dataDir, old, names, read, stored } = await start();
    expect(await countSecrets(where)).toBe(SECRETS);
    const oldId = createCipher(old).keyId;
    const done = await run(where);
    expect(done).toMatchObject({ from: oldId, sealed: SECRETS, file: true });
    expect(done.to).not.toBe(oldId);
    expect(createCipher((await knownKey(where))!).keyId).toBe(done.to);
    expect(await names()).toEqual(["server.key"]);
    expect((await stat(join(dataDir, "server.key"))).mode & 0o777).toBe(0o600);
    expect(await read()).toEqual(before);
    const kept = await stored();
    expect(kept).toContain(done.to);
    expect(kept).not.toContain(oldId);
    expect(kept).not.toContain("secret 7");
    await expect(openDataPlace({ ...where, log, key: old })).rejects.toThrow(
      /server\.key is a different server key|the secrets in this database are encrypted with/,
    );
  });

  it("uses the given key, and keeps the old one on request", async () => {
    const { where, before, old, names, read } = await start();
    const newKey = `${Buffer.alloc(32, 9).toString("base64")}\n`;
    await run(where, { newKey, keepOld: true });
    expect(await names()).toEqual(["server.key", "server.key.old"]);
    expect(await knownKey(where)).toEqual(Buffer.alloc(32, 9));
    expect((await readFile(join(where.dataDir, "server.key.old"), "utf8")).trim()).toBe(
      Buffer.from(old).toString("base64"),
    );
    expect(await run(where, { newKey })).toMatchObject({ sealed: 0 });
    expect(await names()).toEqual(["server.key"]);
    expect(await read()).toEqual(before);
    await expect(run(where, { newKey: "short" })).rejects.toThrow("32 bytes");
  });

  it("interrupted anywhere, keeps servers out or changes nothing, and continues when it is run again", async () => {
    const { where, before, serve, read, names } = await start();
    const steps: string[] = [];
    for (let stop = 1; ; stop++) {
      let count = 0;
      const broken = await run(where, {
        onProgress: ({ table: name }) => {
          if (++count === stop) throw new Error(`killed at ${name}`);
        },
      }).then(
        () => null,
        (error: Error) => error.message,
      );
      if (broken === null) break;
      steps.push(broken);
      expect(await names()).toEqual(["server.key", "server.key.new"]);
      // On the embedded store nothing has happened yet; a database may contain secrets of both keys.
      if (engine === "lowdb") expect(await read()).toEqual(before);
      else await expect(serve()).rejects.toThrow(/svc db rotate-key/);
    }
    expect(steps.length).toBeGreaterThan(5);
    expect(await names()).toEqual(["server.key"]);
    expect(await read()).toEqual(before);
  });

  it("continues if the store was complete and the key file was not replaced", async () => {
    const { where, before, old, serve, read, names } = await start();
    const next = newServerKey();
    await keepNextServerKey(where.dataDir, next);
    const rotation = { from: createCipher(old), to: createCipher(next), tables };
    if (engine === "postgres") await rotatePostgres({ ...rotation, url: where.place });
    else await rotateLowdb({ ...rotation, dir: join(where.dataDir, "db") });
    const refused = await serve().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WrongKey);
    expect((refused as Error).message).toContain("svc db rotate-key");
    const another = Buffer.alloc(32, 3).toString("base64");
    await expect(run(where, { newKey: another })).rejects.toThrow("finish it first");
    expect(await run(where)).toMatchObject({ sealed: 0, to: createCipher(next).keyId });
    expect(await names()).toEqual(["server.key"]);
    expect(await read()).toEqual(before);
  });

  it("is refused while a server runs, which can be restarted afterwards", async () => {
    const { where, before, serve, read } = await start();
    const server = await serve();
    await server.enrollSecrets.count();
    await expect(run(where)).rejects.toThrow(engine === "lowdb" ? /is in use by process/ : StoreInUse);
    expect(await contentOf(server)).toEqual(before);
    await server.close();
    expect(await read()).toEqual(before);
    expect(await run(where)).toMatchObject({ sealed: SECRETS });
  });

  it("does not replace a key that is set in the environment", async () => {
    const { where, before, old, names } = await start();
    await rm(join(where.dataDir, "server.key"));
    const env = { SVC_SERVER_PRIVATE_KEY: Buffer.from(old).toString("base64") };
    await expect(run(where, { env })).rejects.toThrow("openssl rand");
    const newKey = Buffer.alloc(32, 4).toString("base64");
    expect(await run(where, { env, newKey })).toMatchObject({ file: false, sealed: SECRETS });
    expect(await names()).toEqual([]);
    expect(await run(where, { env, newKey })).toMatchObject({ file: false, sealed: 0 });
    const opened = await openDataPlace({ ...where, log, env: { SVC_SERVER_PRIVATE_KEY: newKey } });
    expect(await contentOf(opened.store)).toEqual(before);
    await opened.store.close();
  });

  it("does nothing without data", async () => {
    const dataDir = await newDir();
    await expect(run({ place: dataDir, dataDir, env: {} })).rejects.toThrow("there is no store here");
  });
});

it("of the embedded store survives power cuts: one of the keys opens it, with all data", async () => {
  const small = {
    notes: table("notes", { id: id(), name: text(), body: text().secret() }),
  };
  const [from, to] = [createCipher(Buffer.alloc(32, 1)), createCipher(Buffer.alloc(32, 2))];
  let done = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const random = seeded(seed);
    const disk = new FaultDisk({ random });
    const files = disk.boot();
    const store = await openLowdb({ tables: small, dir: "d", cipher: from, files });
    await store.notes.insertMany(Array.from({ length: 50 }, (_, i) => ({ name: `n${i}`, body: `body ${i}` })));
    await store.close();
    let left = 1 + Math.floor(random() * 22);
    const cut = new Error("power");
    let isDark = () => {};
    const dark = new Promise<void>((resolve) => {
      isDark = resolve;
    });
    disk.onOperation = () => {
      if (--left === 0) {
        disk.cutPower();
        isDark();
        throw cut;
      }
    };
    // After the cut, the process's remaining operations never end, so nothing waits for them.
    await Promise.race([rotateLowdb({ dir: "d", tables: small, from, to, files }).catch(() => {}), dark]);
    disk.onOperation = () => {};
    if (left > 0) disk.cutPower();
    const opened = await openLowdb({ tables: small, dir: "d", cipher: from, files: disk.boot() }).catch(
      (error: unknown) => {
        if (!(error instanceof WrongKey)) throw error;
        done++;
        return openLowdb({ tables: small, dir: "d", cipher: to, files: disk.boot() });
      },
    );
    expect(
      (await opened.notes.list()).map(({ name, body }) => [name, body]),
      `seed ${seed}`,
    ).toEqual(Array.from({ length: 50 }, (_, i) => [`n${i}`, `body ${i}`]));
    await opened.close();
  }
  expect(done).toBeGreaterThan(10);
  expect(150 - done).toBeGreaterThan(10);
});
