// The number of hosts that one user may wipe or delete within an hour.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { spend } from "../../src/server/hosts/approvals/budget.ts";
import { minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { hostRow, makeHost, makeSession, makeUser } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";

const makeHosts = async (t: TestApp, count: number): Promise<number[]> =>
  (await t.store.hosts.insertMany(Array.from({ length: count }, () => hostRow(t.clock.iso())))).map(({ id }) => id);

/** A host that a script can wipe. */
async function wipeable(t: TestApp): Promise<number> {
  const { id } = await makeHost(t);
  await t.store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: t.clock.iso() });
  return id;
}
const statuses = (replies: readonly Response[]) => replies.map(({ status }) => status).sort();

describe.each(rulesEngines)("the hourly budget on %s", (engine) => {
  it("is unlimited by default, and then nothing is written", async () => {
    const t = await startApp({ engine });
    await makeHosts(t, 5);
    expect((await t.post("/hosts/delete", { filters: {} })).status).toBe(200);
    expect((await t.post(`/hosts/${await wipeable(t)}/wipe`)).status).toBe(200);
    expect(await t.store.dangerUses.count()).toBe(0);
  });

  it("for deletes counts hosts, however they are deleted, and reports when there is budget again", async () => {
    const t = await startApp({ engine, settings: { host_deletes_per_hour: 5 } });
    const ids = await makeHosts(t, 12);
    expect((await t.delete(`/hosts/${ids[0]}`)).status).toBe(200);
    t.clock.advance(minutes(10) + seconds(7));
    expect((await t.post("/hosts/delete", { ids: ids.slice(1, 4) })).status).toBe(200);
    const refused = await t.post("/hosts/delete", { ids: ids.slice(4, 6) });
    expect(refused.status).toBe(429);
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(minutes(49) / 1000);
    expect(wait).toBeLessThanOrEqual(minutes(51) / 1000);
    const reason = await reasonOf(refused);
    expect(reason).toContain("at most 5 hosts may be deleted by one user within an hour");
    expect(reason).toContain("ada@example.com has deleted 4; there is room for 2 more in about an hour");
    expect(await t.store.hosts.count()).toBe(8);
    expect((await t.delete(`/hosts/${ids[4]}`)).status, "one more fits").toBe(200);
    expect((await t.delete(`/hosts/${ids[5]}`)).status).toBe(429);
    t.clock.advance(seconds(wait));
    expect((await t.delete(`/hosts/${ids[5]}`)).status, "the first is an hour ago").toBe(200);
    expect((await t.delete(`/hosts/${ids[6]}`)).status).toBe(429);
    const many = await t.post("/hosts/delete", { filters: {} });
    expect([many.status, await reasonOf(many)]).toEqual([429, expect.stringContaining("this would be 6 at once")]);
    expect(await t.store.hosts.count()).toBe(6);
  });

  it("for wipes counts requested wipes, but not refused ones", async () => {
    const t = await startApp({ engine, settings: { wipes_per_hour: 2 } });
    const bare = await makeHost(t);
    expect((await t.post(`/hosts/${bare.id}/wipe`)).status).toBe(422);
    const [a, b, c] = [await wipeable(t), await wipeable(t), await wipeable(t)];
    expect((await t.post(`/hosts/${a}/wipe`)).status).toBe(200);
    expect((await t.post(`/hosts/${a}/wipe`)).status, "it is pending").toBe(422);
    expect((await t.post(`/hosts/${b}/wipe`)).status).toBe(200);
    const refused = await t.post(`/hosts/${c}/wipe`);
    expect([refused.status, await reasonOf(refused)]).toEqual([429, expect.stringContaining("has wiped 2")]);
    expect(await t.store.operations.count()).toBe(2);
    expect((await t.post(`/hosts/${c}/lock`)).status, "a lock costs nothing").toBe(200);
    expect((await t.delete(`/hosts/${b}`)).status, "nor do deletes").toBe(200);
  });

  it("is shared by all credentials of a user, and separate for each user", async () => {
    const t = await startApp({ engine, settings: { host_deletes_per_hour: 1 } });
    const ids = await makeHosts(t, 6);
    const user = await makeUser(t, "maintainer");
    const made = await user.post("/tokens", { name: "nightly" });
    const { token } = (await made.json()) as { token: string };
    const [session, byToken] = [t.as(await makeSession(t, user.id)), t.as(token)];
    expect((await byToken.delete(`/hosts/${ids[0]}`)).status).toBe(200);
    for (const caller of [user, session, byToken]) expect((await caller.delete(`/hosts/${ids[1]}`)).status).toBe(429);
    expect((await t.delete(`/hosts/${ids[1]}`)).status).toBe(200);
  });

  it("does not limit the server's own work, and deletes outdated uses", async () => {
    const t = await startApp({ engine, settings: { host_deletes_per_hour: 1 } });
    const patch = { host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 1 } };
    expect((await t.patch("/config", patch)).status).toBe(200);
    for (let i = 0; i < 4; i++) await makeHost(t, { created_at: "2026-01-01T00:00:00.000Z" });
    await runJob(t.services, "host_expiry");
    expect(await t.store.hosts.count()).toBe(0);
    const [id] = await makeHosts(t, 1);
    expect((await t.delete(`/hosts/${id}`)).status).toBe(200);
    expect(await t.store.dangerUses.count()).toBe(1);
    t.clock.advance(minutes(60));
    await runJob(t.services, "approvals");
    expect(await t.store.dangerUses.count(), "it counts to the end of its minute").toBe(1);
    t.clock.advance(minutes(1));
    await runJob(t.services, "approvals");
    expect(await t.store.dangerUses.count()).toBe(0);
  });
});

describe.each(bothEngines)("concurrent use of the hourly budget on %s", (engine) => {
  it("cannot be exceeded by concurrent requests", async () => {
    const t = await startApp({ engine, settings: { host_deletes_per_hour: 6, wipes_per_hour: 3 } });
    const ids = await makeHosts(t, 20);
    const pairs = Array.from({ length: 10 }, (_, i) => ids.slice(2 * i, 2 * i + 2));
    const deletes = await Promise.all(pairs.map((pair) => t.post("/hosts/delete", { ids: pair })));
    expect(statuses(deletes)).toEqual([...Array(3).fill(200), ...Array(7).fill(429)]);
    expect(await t.store.hosts.count()).toBe(14);
    const boxes = await Promise.all(Array.from({ length: 8 }, () => wipeable(t)));
    const wipes = await Promise.all(boxes.map((id) => t.post(`/hosts/${id}/wipe`)));
    expect(statuses(wipes)).toEqual([...Array(3).fill(200), ...Array(5).fill(429)]);
    expect(await t.store.operations.count()).toBe(3);
  });
});

it("is stored: another server, or this one after a restart, counts earlier uses", async () => {
  const t = await startApp({ engine: "postgres", settings: { host_deletes_per_hour: 3 } });
  const ids = await makeHosts(t, 4);
  expect((await t.post("/hosts/delete", { ids: ids.slice(0, 2) })).status).toBe(200);
  const { tables } = t.store;
  const { log } = t.services;
  const cipher = createCipher(Buffer.alloc(32, 7));
  const store = await openPostgres({ tables, url: t.databaseUrl!, cipher, log, create: true, poolSize: 2 });
  try {
    const user = await viewerOf(store, (await store.users.first({}))!, null);
    const there = { ...t.services, store, user, address: "", requestId: "r" };
    await expect(spend(there, "delete", 2)).rejects.toMatchObject({ status: 429 });
    await spend(there, "delete", 1);
  } finally {
    await store.close();
  }
  expect((await t.delete(`/hosts/${ids[2]}`)).status).toBe(429);
});
