// Disk encryption keys that a host has escrowed before: a later key must not destroy the one that opens the disk.
import { describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";

async function scene(engine: "lowdb" | "postgres") {
  const t = await startApp({ engine });
  const agent = await makeManaged(t);
  const { id } = await agent.host();
  const escrow = async (passphrase: string) => {
    t.clock.advance(1_000);
    const { status } = await agent.call("/luks_data", { passphrase, salt: "salt", key_slot: 1 });
    expect(status).toBe(204);
    return t.clock.iso();
  };
  const keys = async (caller: Pick<TestApp, "get"> = t) => caller.get(`/hosts/${id}/encryption_keys`);
  const listed = async () => ((await (await keys()).json()) as { encryption_keys: { key: string }[] }).encryption_keys;
  return { t, agent, id, escrow, keys, listed };
}

describe.each(bothEngines)("the disk encryption keys of a host on %s", (engine) => {
  it("are kept when another one replaces them, with the time and who has sent them", async () => {
    const { t, id, escrow, keys, listed } = await scene(engine);
    expect(await (await keys()).json()).toEqual({ host_id: id, encryption_keys: [] });
    const first = await escrow("opens-the-disk");
    await escrow("opens-the-disk");
    const second = await escrow("of-a-copy");
    expect(await listed()).toEqual([
      { key: "of-a-copy", escrowed_at: second, source: "agent" },
      { key: "opens-the-disk", escrowed_at: first, source: "agent" },
    ]);
    const read = (await t.store.activities.list()).filter(({ type }) => type === "read_host_disk_encryption_key");
    expect(read, "the empty list was no reading").toHaveLength(1);
    expect(read[0]).toMatchObject({ actor_id: 1, details: { host_id: id } });
    expect((await t.delete(`/hosts/${id}`)).status).toBe(200);
    expect(await t.store.diskKeyHistory.count()).toBe(0);
  });

  it("are ten at most, and begin with the key from before there was a history", async () => {
    const { t, id, escrow, listed } = await scene(engine);
    const key_updated_at = t.clock.iso();
    await t.store.hostDiskEncryption.upsert([{ id, status: "verified", key: "older", key_updated_at }], { on: ["id"] });
    await escrow("key-0");
    expect((await listed()).map(({ key }) => key)).toEqual(["key-0", "older"]);
    expect((await listed())[1]).toMatchObject({ source: "unknown", escrowed_at: key_updated_at });
    for (let i = 1; i < 12; i++) await escrow(`key-${i}`);
    expect((await listed()).map(({ key }) => key)).toEqual(Array.from({ length: 10 }, (_, i) => `key-${11 - i}`));
  });

  it("are read by those who may act on the host, as its passwords are", async () => {
    const { t, id, escrow, keys } = await scene(engine);
    await escrow("opens-the-disk");
    const other = await makeTeam(t);
    for (const path of ["encryption_keys", "managed_account_password", "recovery_lock_password"]) {
      const status = async (caller: Pick<TestApp, "get">) => (await caller.get(`/hosts/${id}/${path}`)).status;
      for (const role of ["observer", "observer_plus"] as const)
        expect(await status(await makeUser(t, role)), `${role} ${path}`).toBe(403);
      expect(await status(await makeUser(t, { teams: [{ id: other.id, role: "admin" }] })), path).toBe(404);
      for (const role of ["technician", "maintainer"] as const)
        expect(await status(await makeUser(t, role)), `${role} ${path}`).toBe(path === "encryption_keys" ? 200 : 404);
    }
    expect((await keys(await makeUser(t, "admin"))).status).toBe(200);
  });
});
