// Reading the directory of an embedded store while the server has it open.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { openBeside } from "../../../src/server/platform/store/lowdb/open-beside.ts";
import { StoreDamaged, StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { testCipher } from "../../support/engines.ts";
import { testTables } from "./tables.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-beside-"));
});
afterEach(() => rm(dir, { recursive: true }));

const open = () => openLowdb({ tables: testTables, dir, cipher: testCipher, snapshotBytes: 3_000 });
const beside = () => openBeside({ tables: testTables, dir, cipher: testCipher });

it("sees acknowledged data and only complete transactions, while snapshots are created", async () => {
  const store = await open();
  let isOver = false;
  let acknowledged = 0;
  const writing = (async () => {
    while (!isOver) {
      const round = acknowledged / 2;
      await store.tx(async (tx) => {
        await tx.teams.insert({ name: `first ${round}` });
        await tx.teams.insert({ name: `second ${round}` });
      });
      acknowledged += 2;
    }
  })();
  // At least until three snapshots were created.
  for (let i = 0; i < 15 || store.stats().generation! < 4; i++) {
    const known = acknowledged;
    const reader = await beside();
    const names = (await reader.teams.list()).map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(known);
    expect(names.filter((name) => name.startsWith("first"))).toHaveLength(names.length / 2);
    await reader.close();
  }
  isOver = true;
  await writing;
  await store.close();
});

it("changes nothing, leaves no lock, and refuses to write", async () => {
  const store = await open();
  await store.teams.insert({ name: "team" });
  const before = await readdir(dir);
  const content = await readFile(join(dir, "journal-1.jsonl"), "utf8");
  const reader = await beside();
  await expect(reader.teams.insert({ name: "another" })).rejects.toThrow(StoreUnavailable);
  await expect(reader.tx((tx) => tx.teams.insert({ name: "another" }))).rejects.toThrow(StoreUnavailable);
  await reader.close();
  expect(await readdir(dir)).toEqual(before);
  expect(await readFile(join(dir, "journal-1.jsonl"), "utf8")).toBe(content);
  await store.teams.insert({ name: "goes on" });
  await store.close();
});

it("refuses a damaged store like the server", async () => {
  const store = await open();
  await store.teams.insert({ name: "team" });
  await store.close();
  await rm(join(dir, "journal-1.jsonl"));
  await expect(beside()).rejects.toThrow(StoreDamaged);
});
