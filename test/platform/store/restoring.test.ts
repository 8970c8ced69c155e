// Filling an empty embedded store: the basis of `svc db copy` and `svc db restore`.
import { describe, expect, it } from "vitest";
import { adminOf } from "../../../src/server/platform/store/admin.ts";
import { openLowdb } from "../../../src/server/platform/store/lowdb/open.ts";
import { ReferenceViolation } from "../../../src/server/platform/store/store.ts";
import { testCipher } from "../../support/engines.ts";
import { FaultDisk, seeded } from "../../support/fault-files.ts";
import { testTables } from "./tables.ts";

const open = (disk: FaultDisk) =>
  openLowdb({ tables: testTables, dir: "/data", cipher: testCipher, files: disk.boot() });

describe("a restore of the embedded store", () => {
  it("keeps rows with their ids and revisions, and the next ids, after a restart", async () => {
    const disk = new FaultDisk({ random: seeded(1) });
    let store = await open(disk);
    await adminOf(store).restore(async (into) => {
      const tag = { id: 3, host_id: 7, label: "l", revision: 4 };
      await into.rows("t_tags", [tag]);
      const host = { team_id: null, name: "a", note: null, rank: 1, load: 0, online: true, seen_at: null };
      await into.rows("t_hosts", [{ id: 7, ...host, facts: {}, token: "s", revision: 9 }]);
      await into.nextId("t_hosts", 50);
    });
    const before = [await store.hosts.list(), await store.tags.list()];
    expect(before).toMatchObject([[{ id: 7, revision: 9 }], [{ id: 3, revision: 4 }]]);
    await store.close();
    store = await open(disk);
    expect([await store.hosts.list(), await store.tags.list()]).toEqual(before);
    expect((await store.hosts.insert({ name: "b" })).id).toBe(50);
    await store.close();
  });

  it("stores nothing if a reference is invalid, and the store continues", async () => {
    const disk = new FaultDisk({ random: seeded(1) });
    let store = await open(disk);
    const broken = adminOf(store).restore((into) =>
      into.rows("t_tags", [{ id: 3, host_id: 7, label: "l", revision: 1 }]),
    );
    await expect(broken).rejects.toThrow(ReferenceViolation);
    await store.teams.insert({ name: "after" });
    await store.close();
    store = await open(disk);
    expect([await store.tags.count(), await store.teams.count()]).toEqual([0, 1]);
    await store.close();
  });
});
