import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createCipher, WrongKey } from "../../../src/server/platform/store/cipher.ts";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { everything, gt } from "../../../src/server/platform/store/query.ts";
import { StoreDamaged, StoreUnavailable } from "../../../src/server/platform/store/store.ts";
import { testCipher } from "../../support/engines.ts";
import { FaultDisk, fault, type Operation, seeded } from "../../support/fault-files.ts";
import { testTables } from "./tables.ts";

const JOURNAL = "/data/journal-1.jsonl";
const newDisk = () => new FaultDisk({ random: seeded(1) });
const open = (disk: FaultDisk, cipher = testCipher) =>
  openLowdb({ tables: testTables, dir: "/data", cipher, files: disk.boot(), frozen: true });

async function diskWithTeams(count: number): Promise<FaultDisk> {
  const disk = newDisk();
  const store = await open(disk);
  for (let i = 1; i <= count; i++) await store.teams.insert({ name: `team ${i}` });
  await store.close();
  return disk;
}

describe("opening a journal", () => {
  it("drops every possible incomplete end and continues after it", async () => {
    const whole = (await diskWithTeams(3)).content(JOURNAL);
    const lastLine = whole.lastIndexOf("\n", whole.length - 2) + 1;
    for (let size = lastLine + 1; size < whole.length; size += 7) {
      const disk = await diskWithTeams(3);
      disk.tamper(JOURNAL, (content) => content.subarray(0, size));
      const store = await open(disk);
      expect(await store.teams.count()).toBe(2);
      await store.teams.insert({ name: "after" });
      await store.close();
      const again = await open(disk);
      expect((await again.teams.list()).map(({ name }) => name)).toEqual(["team 1", "team 2", "after"]);
      await again.close();
    }
  });

  it("refuses damage before the end, with the file and the byte", async () => {
    const disk = await diskWithTeams(3);
    const content = disk.content(JOURNAL).toString();
    const secondLine = content.indexOf("\n") + 1;
    disk.tamper(JOURNAL, (bytes) => {
      bytes[secondLine + 30]! ^= 1;
      return bytes;
    });
    const error = await open(disk).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(StoreDamaged);
    expect(error).toMatchObject({ file: JOURNAL, offset: secondLine });
    // The refusal has released the directory.
    await expect(open(disk)).rejects.toThrow(/damaged at byte/);
  });

  it("refuses a damaged header before rows, and a missing line", async () => {
    const flipped = await diskWithTeams(2);
    flipped.tamper(JOURNAL, (bytes) => {
      bytes[12]! ^= 1;
      return bytes;
    });
    await expect(open(flipped)).rejects.toMatchObject({ offset: 0 });

    const shortened = await diskWithTeams(3);
    shortened.tamper(JOURNAL, (bytes) => {
      const lines = bytes.toString().split("\n");
      lines.splice(2, 1);
      return Buffer.from(lines.join("\n"));
    });
    await expect(open(shortened)).rejects.toThrow(StoreDamaged);
  });

  it("refuses a truncated or damaged snapshot", async () => {
    const disk = await diskWithTeams(3);
    const store = await open(disk);
    await store.compact();
    await store.close();
    const path = "/data/snapshot-2.jsonl";
    const whole = Buffer.from(disk.content(path));
    for (const size of [0, 20, whole.lastIndexOf("\n", whole.length - 2) + 1, whole.length - 1]) {
      disk.tamper(path, () => whole.subarray(0, size));
      await expect(open(disk)).rejects.toThrow(StoreDamaged);
    }
  });

  it("refuses another key, even if no secret was ever stored", async () => {
    const disk = newDisk();
    await (await open(disk)).close();
    await expect(open(disk, createCipher(Buffer.alloc(32, 8)))).rejects.toThrow(WrongKey);
  });

  it("refuses unknown tables", async () => {
    const disk = await diskWithTeams(1);
    const { teams } = testTables;
    const fewer = openLowdb({ tables: { teams }, dir: "/data", cipher: testCipher, files: disk.boot() });
    await expect(fewer).rejects.toThrow(/unknown table/);
  });

  it("keeps secrets encrypted on disk, in journal and snapshot", async () => {
    const disk = newDisk();
    const store = await open(disk);
    await store.hosts.insert({ name: "h", token: "canary-secret" });
    expect(disk.content(JOURNAL).includes("canary-secret")).toBe(false);
    await store.compact();
    await store.close();
    expect(disk.content("/data/snapshot-2.jsonl").includes("canary-secret")).toBe(false);
    const again = await open(disk);
    expect(await again.hosts.first({})).toMatchObject({ token: "canary-secret" });
    await again.close();
  });

  it("never uses an id again, after a snapshot and a restart", async () => {
    const disk = await diskWithTeams(3);
    let store = await open(disk);
    await store.teams.delete(gt("id", 1));
    await store.compact();
    await store.close();
    store = await open(disk);
    expect((await store.teams.insert({ name: "next" })).id).toBe(4);
    await store.close();
  });
});

describe("a snapshot", () => {
  it("can be interrupted by a power cut at any operation", async () => {
    for (let cutAt = 1; ; cutAt++) {
      const disk = new FaultDisk({ random: seeded(cutAt) });
      const store = await open(disk);
      const rows = Array.from({ length: 50 }, (_, i) => ({ name: `t${i}` }));
      await store.teams.insertMany(rows);
      let operations = 0;
      const cut = new Promise<"cut">((resolve) => {
        disk.onOperation = () => {
          if (++operations !== cutAt) return;
          disk.cutPower();
          disk.onOperation = () => {};
          resolve("cut");
        };
      });
      const outcome = await Promise.race([cut, store.compact().then(() => "done" as const)]);
      if (outcome === "done") {
        expect(cutAt).toBeGreaterThan(8);
        await store.close();
        return;
      }
      const again = await open(disk);
      expect(await again.teams.count(), `cut at ${cutAt}`).toBe(50);
      await again.compact();
      await again.close();
    }
  });

  it("lets writers proceed and contains what they wrote in the meantime", async () => {
    const disk = newDisk();
    const store = await open(disk);
    await store.teams.insertMany(Array.from({ length: 2_000 }, (_, i) => ({ name: `t${i}`, code: "x".repeat(9) + i })));
    const compaction = store.compact();
    for (let i = 0; i < 20; i++) {
      await store.teams.updateEach([{ id: 100 * i + 1, name: `changed ${i}` }]);
      await store.teams.delete({ op: "eq", column: "id", value: 100 * i + 2 });
    }
    await compaction;
    const before = await store.teams.list();
    await store.close();
    const again = await open(disk);
    expect(await again.teams.list()).toEqual(before);
    await again.close();
  });
});

describe("a disk that fails", () => {
  const failing = (disk: FaultDisk, operation: Operation, code: "ENOSPC" | "EIO" | "EMFILE") => {
    disk.onOperation = (now) => {
      if (now === operation) throw fault(code);
    };
  };

  it.each([
    ["write", "ENOSPC"],
    ["write", "EIO"],
    ["sync", "EIO"],
  ] as const)(
    "refuses writes while %s fails with %s, serves reads, and recovers automatically",
    async (operation, code) => {
      const disk = newDisk();
      const store = await open(disk);
      await store.teams.insert({ name: "kept" });
      failing(disk, operation, code);
      const refused = await Promise.allSettled([
        store.teams.insert({ name: "a" }),
        store.tx(async (tx) => {
          await tx.teams.update({ where: everything, set: { code: null } });
        }),
        store.teams.insert({ name: "c" }),
      ]);
      for (const result of refused) expect(result).toMatchObject({ reason: expect.any(StoreUnavailable) });
      expect((await store.teams.list()).map(({ name }) => name)).toEqual(["kept"]);
      await expect(store.check()).rejects.toThrow(StoreUnavailable);
      await expect(store.teams.insert({ name: "d" })).rejects.toThrow(StoreUnavailable);

      disk.onOperation = () => {};
      await vi.waitFor(() => store.check(), 60_000);
      await store.teams.insert({ name: "after" });
      await store.close();
      const again = await open(disk);
      expect((await again.teams.list()).map(({ name }) => name)).toEqual(["kept", "after"]);
      await again.close();
    },
  );

  it("never syncs a file again after a failed sync: a new generation replaces it", async () => {
    const disk = newDisk();
    const store = await open(disk);
    const synced: string[] = [];
    let failed = false;
    disk.onOperation = (operation, path) => {
      if (operation !== "sync") return;
      if (!failed) {
        failed = true;
        throw fault("EIO");
      }
      synced.push(path);
    };
    await expect(store.teams.insert({ name: "lost" })).rejects.toThrow(StoreUnavailable);
    await vi.waitFor(() => store.check(), 60_000);
    expect(synced).not.toContain(JOURNAL);
    expect(store.stats().generation).toBe(2);
    await store.close();
    const again = await open(disk);
    expect(await again.teams.count()).toBe(0);
    await again.close();
  });

  it("also rolls back the open transaction if the data that it has read was not stored", async () => {
    const disk = newDisk();
    const store = await open(disk);
    let fail!: () => void;
    const failure = new Promise<void>((resolve) => {
      fail = resolve;
    });
    disk.onOperation = async (operation) => {
      if (operation !== "write") return;
      await failure;
      throw fault("ENOSPC");
    };
    const first = store.teams.insert({ name: "first" }).catch((e: unknown) => e);
    const second = store
      .tx(async (tx) => {
        expect(await tx.teams.count()).toBe(1);
        await tx.teams.insert({ name: "second" });
        fail();
        await first;
        await tx.teams.insert({ name: "third" });
      })
      .catch((e: unknown) => e);
    expect(await first).toBeInstanceOf(StoreUnavailable);
    expect(await second).toBeInstanceOf(StoreUnavailable);
    expect(await store.teams.count()).toBe(0);
    disk.onOperation = () => {};
    await store.close();
  });

  it("continues with the old journal if a snapshot cannot be created", async () => {
    const disk = newDisk();
    const store = await open(disk);
    await store.teams.insert({ name: "a" });
    failing(disk, "create", "EMFILE");
    await expect(store.compact()).rejects.toThrow(/EMFILE/);
    await store.teams.insert({ name: "b" });
    disk.onOperation = () => {};
    await store.compact();
    await store.close();
    const again = await open(disk);
    expect(await again.teams.count()).toBe(2);
    await again.close();
  });
});

/** The fields of proc(5) from the third, the state, on. */
const statOf = async (pid: number) => (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /s, "").split(" ");
const startOf = async (pid: number) => (await statOf(pid))[19];

describe("the lock of a directory", () => {
  let dir: string;
  const real = async () => openLowdb({ tables: testTables, dir, cipher: testCipher });
  afterEach(() => rm(dir, { recursive: true }));

  it("keeps a second server out and names the owner", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-lock-"));
    const store = await real();
    await expect(real()).rejects.toThrow(`${dir} is in use by process ${process.pid}`);
    await store.close();
    await (await real()).close();
  });

  it("is taken over from a process that has exited, or whose pid was reused", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-lock-"));
    const path = join(dir, "lock");
    const owners = [JSON.stringify({ pid: 2 ** 30, started: "1" }), "", "{"];
    if (process.platform === "linux") owners.push(JSON.stringify({ pid: process.pid, started: "1" }));
    for (const owner of owners) {
      await writeFile(path, owner);
      const store = await real();
      expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
      await store.close();
    }
  });

  it.runIf(process.platform === "linux")("is taken over from a process that was killed a moment ago", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-lock-"));
    // Much memory takes a while to free.
    const child = spawn(process.execPath, [
      "-e",
      "const kept = Buffer.alloc(200 << 20, 1); console.log(kept.length); setInterval(() => {}, 1000)",
    ]);
    await once(child.stdout, "data");
    await writeFile(join(dir, "lock"), JSON.stringify({ pid: child.pid, started: await startOf(child.pid!) }));
    await expect(real()).rejects.toThrow(`${dir} is in use by process ${child.pid}`);
    child.kill("SIGKILL");
    await (await real()).close();
  });

  it.runIf(process.platform === "linux")("is taken over from a process that nothing has waited for", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-lock-"));
    // The shell becomes a program that never waits for the first one.
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"]);
    const pid = Number(String((await once(parent.stdout, "data"))[0]));
    // Until then, the shell itself would wait for it.
    await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n");
    await writeFile(join(dir, "lock"), JSON.stringify({ pid, started: await startOf(pid) }));
    await expect(real()).rejects.toThrow(`${dir} is in use by process ${pid}`);
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await statOf(pid))[0]).toBe("Z");
    await (await real()).close();
    parent.kill("SIGKILL");
  });
});
