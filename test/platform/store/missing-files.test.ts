// An embedded store with a missing, empty or unreadable file: it refuses to open, and changes nothing.
import { link, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { testCipher } from "../../support/engines.ts";
import { FaultDisk, seeded } from "../../support/fault-files.ts";
import { testTables } from "./tables.ts";

const path = (name: string) => `/data/${name}`;
const open = (disk: FaultDisk) =>
  openLowdb({ tables: testTables, dir: "/data", cipher: testCipher, files: disk.boot() });

type Ruin = "empty" | "zeros" | "garbage" | "no header" | "absent";
const ruins: readonly Ruin[] = ["empty", "zeros", "garbage", "no header", "absent"];

function ruin(disk: FaultDisk, name: string, how: Ruin): void {
  if (how === "absent") {
    disk.remove(path(name));
    return;
  }
  disk.tamper(path(name), (content) => {
    if (how === "empty") return Buffer.alloc(0);
    if (how === "zeros") return Buffer.alloc(content.length);
    if (how === "garbage") return Buffer.from("\x7fELF garbage\nmore of it\n".repeat(20));
    return content.subarray(10);
  });
}

/** A store with three rows; with `compacted`, two of them are in a snapshot and one in the journal after it. */
async function filled(compacted: boolean): Promise<FaultDisk> {
  const disk = new FaultDisk({ random: seeded(1) });
  const store = await open(disk);
  await store.teams.insert({ name: "team 1" });
  await store.teams.insert({ name: "team 2" });
  if (compacted) await store.compact();
  await store.teams.insert({ name: "team 3" });
  await store.close();
  return disk;
}

const contents = (disk: FaultDisk) =>
  new Map([...disk.names.keys()].map((name) => [name, disk.content(name).toString("latin1")]));

async function expectRefused(disk: FaultDisk, name: string): Promise<void> {
  const before = contents(disk);
  await expect(open(disk)).rejects.toThrow(path(name));
  // The second try fails as well, because the first one has changed nothing.
  await expect(open(disk)).rejects.toThrow(path(name));
  expect(contents(disk)).toEqual(before);
}

describe("a store whose journal cannot be read", () => {
  describe.each([false, true])("with a snapshot: %s", (compacted) => {
    const journal = compacted ? "journal-2.jsonl" : "journal-1.jsonl";

    it.each(ruins)("is refused when the journal is %s", async (how) => {
      const disk = await filled(compacted);
      ruin(disk, journal, how);
      await expectRefused(disk, journal);
    });

    it.each(ruins)("is refused if the journal is %s and store.json is missing too", async (how) => {
      const disk = await filled(compacted);
      disk.remove(path("store.json"));
      ruin(disk, journal, how);
      // Without a snapshot and without store.json, a missing journal means a new directory.
      if (how === "absent" && !compacted) await (await open(disk)).close();
      else await expectRefused(disk, journal);
    });

    it.each(ruins)("opens with all rows if only store.json is %s", async (how) => {
      const disk = await filled(compacted);
      ruin(disk, "store.json", how);
      const store = await open(disk);
      expect(await store.teams.count()).toBe(3);
      await store.close();
      ruin(disk, journal, "absent");
      await expectRefused(disk, journal);
    });

    it.each(ruins.filter((how) => how !== "absent"))(
      "is refused if store.json is %s and the journal is absent",
      async (how) => {
        const disk = await filled(compacted);
        ruin(disk, "store.json", how);
        disk.remove(path(journal));
        await expectRefused(disk, journal);
      },
    );

    it("is refused if only the header of the journal is left", async () => {
      const disk = await filled(compacted);
      disk.tamper(path(journal), (content) => content.subarray(0, content.indexOf("\n") + 1));
      // One row in the journal may be the last line, which may be incomplete after a crash; two are lost data.
      if (compacted) expect(await (await open(disk)).teams.count()).toBe(2);
      else await expectRefused(disk, journal);
    });

    it("is refused if everything after the header of the journal is zeros", async () => {
      const disk = await filled(compacted);
      disk.tamper(path(journal), (content) => content.fill(0, content.indexOf("\n") + 1));
      if (compacted) expect(await (await open(disk)).teams.count()).toBe(2);
      else await expectRefused(disk, journal);
    });
  });

  it.each(ruins)("is refused if the second journal is %s", async (how) => {
    const disk = new FaultDisk({ random: seeded(1) });
    const store = await open(disk);
    await store.teams.insert({ name: "team 1" });
    // The snapshot fails after the next journal was started: both journals contain rows.
    disk.onOperation = (operation, file) => {
      if (operation === "create" && file.includes("snapshot")) throw new Error("injected");
    };
    await expect(store.compact()).rejects.toThrow("injected");
    await store.teams.insert({ name: "team 2" });
    await store.teams.insert({ name: "team 3" });
    await store.close();
    disk.onOperation = () => {};
    ruin(disk, "journal-2.jsonl", how);
    await expectRefused(disk, "journal-2.jsonl");
  });
});

describe("a store whose snapshot cannot be read", () => {
  it.each(ruins)("is refused when the snapshot is %s", async (how) => {
    const disk = await filled(true);
    ruin(disk, "snapshot-2.jsonl", how);
    await expectRefused(disk, "snapshot-2.jsonl");
  });

  it("is refused if snapshot and journal are both missing", async () => {
    const disk = await filled(true);
    disk.remove(path("snapshot-2.jsonl"));
    disk.remove(path("journal-2.jsonl"));
    await expectRefused(disk, "snapshot-2.jsonl");
  });
});

describe("a power cut at the first start", () => {
  it("leaves a directory that opens as a new store", async () => {
    for (let cutAt = 1; ; cutAt++) {
      const disk = new FaultDisk({ random: seeded(cutAt) });
      let operations = 0;
      const cut = new Promise<"cut">((resolve) => {
        disk.onOperation = () => {
          if (++operations !== cutAt) return;
          disk.cutPower();
          disk.onOperation = () => {};
          resolve("cut");
        };
      });
      const outcome = await Promise.race([cut, open(disk)]);
      if (outcome !== "cut") {
        expect(cutAt).toBeGreaterThan(6);
        await outcome.close();
        return;
      }
      const store = await open(disk);
      await store.teams.insert({ name: "after" });
      await store.close();
    }
  });
});

describe.skipIf(process.platform === "win32")("symbolic links in the directory of the store", () => {
  let root: string;
  const real = (dir = join(root, "db")) => openLowdb({ tables: testTables, dir, cipher: testCipher });
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "svc-links-"));
    const store = await real();
    await store.teams.insert({ name: "team 1" });
    await store.close();
  });
  afterEach(() => rm(root, { recursive: true }));

  it.each(["journal-1.jsonl", "store.json"])("are refused in place of %s", async (name) => {
    const file = join(root, "db", name);
    await rename(file, join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), file);
    const before = await readFile(file, "utf8");
    await expect(real()).rejects.toThrow(`${file} is a symbolic link`);
    expect(await readFile(file, "utf8")).toBe(before);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
  });

  it("are refused in place of a snapshot", async () => {
    const store = await real();
    await store.compact();
    await store.close();
    const file = join(root, "db", "snapshot-2.jsonl");
    await rename(file, join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), file);
    await expect(real()).rejects.toThrow(`${file} is a symbolic link`);
  });

  it("are refused in place of the directory itself", async () => {
    await rename(join(root, "db"), join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), join(root, "db"));
    await expect(real()).rejects.toThrow(`${join(root, "db")} is a symbolic link`);
  });

  it("are not followed by temporary files, nor by the lock", async () => {
    const victim = join(root, "victim");
    await writeFile(victim, "precious");
    for (const name of ["journal-2.jsonl.tmp", "snapshot-2.jsonl.tmp", "store.json.tmp"])
      await symlink(victim, join(root, "db", name));
    const store = await real();
    await store.compact();
    await store.close();
    await symlink(victim, join(root, "db", "lock"));
    await expect(real()).rejects.toThrow(`${join(root, "db", "lock")} is a symbolic link`);
    expect(await readFile(victim, "utf8")).toBe("precious");
  });

  it("are allowed on the path to the directory, and hard links are files", async () => {
    await symlink(root, join(root, "way"));
    const store = await real(join(root, "way", "db"));
    expect(await store.teams.count()).toBe(1);
    await store.close();
    await link(join(root, "db", "journal-1.jsonl"), join(root, "copy"));
    await (await real()).close();
  });

  it("refuses anything that is not a file", async () => {
    const file = join(root, "db", "journal-1.jsonl");
    await rm(file);
    await mkdir(file);
    await expect(real()).rejects.toThrow(`${file} is not a file`);
    expect(await readdir(file)).toEqual([]);
  });
});
