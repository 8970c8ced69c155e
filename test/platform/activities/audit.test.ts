// The chain of activities: it is built, it reveals tampering, and expiry keeps it valid. Tampering is done in the store
// itself, as somebody with write access could do.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Verification } from "../../../src/api/platform/activities.ts";
import { openDataPlace } from "../../../src/server/data-places.ts";
import { checkData } from "../../../src/server/data-tools.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { recordActivities, recordActivity } from "../../../src/server/platform/activities/record.ts";
import { channels } from "../../../src/server/platform/core/channels.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { type Services, serviceContext } from "../../../src/server/platform/core/context.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { sealAll } from "../../../src/server/platform/outbox/activities.ts";
import { eq, everything, gt, lte } from "../../../src/server/platform/store/query.ts";
import { writeSection } from "../../../src/server/settings/app-config/rows.ts";
import { sections } from "../../../src/server/settings/app-config/sections.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const byPlace = [{ column: "chain_position", direction: "asc" }] as const;

async function verify(t: Pick<TestApp, "get">, query = ""): Promise<Verification> {
  const res = await t.get(`/audit/verify${query}`);
  expect(res.status, await res.clone().text()).toBe(200);
  return (await res.json()) as Verification;
}

/** Waits for at least this many entries in the chain. */
async function filled(t: TestApp, count: number): Promise<void> {
  const details = Array.from({ length: count }, (_, i) => ({ team_id: i + 1, team_name: `Team ${i + 1} é \u0001` }));
  await recordActivities(serviceContext(t.services), "created_team", details);
  await sealAll(t.services);
}

const at = async (t: TestApp, position: number) => {
  const row = await t.store.activities.first({ where: eq("chain_position", position) });
  return row!;
};

async function expireAfter(t: TestApp, window: number) {
  const value = { activity_expiry_enabled: true, activity_expiry_window: window };
  await writeSection(t.store, sections.activity_expiry_settings, value, t.clock.iso());
  await t.store.notify(channels.config, "activity_expiry_settings");
}

describe.each(rulesEngines)("the chain of activities on %s", (engine) => {
  it("contains every entry in order, without a gap, and is valid", async () => {
    const t = await startApp({ engine });
    await filled(t, 1203);
    const rows = await t.store.activities.list({ order: byPlace });
    expect(rows.map((row) => row.chain_position)).toEqual(rows.map((_, i) => i + 1));
    const ids = rows.map((row) => row.id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(new Set(rows.map((row) => row.chain_hash)).size).toBe(rows.length);
    const found = await verify(t);
    expect(found).toMatchObject({
      ok: true,
      entries: rows.length,
      unsealed: 0,
      first_position: 1,
      last_position: rows.length,
      checked: rows.length,
      next: null,
      problem: null,
      head: { position: rows.length, hash: rows.at(-1)!.chain_hash },
    });
  });

  it("hashes every column of an entry that it should", async () => {
    const t = await startApp({ engine });
    await filled(t, 1);
    const position = (await verify(t)).last_position!;
    const row = await at(t, position);
    const changes: Record<string, unknown> = {
      created_at: "2020-01-01T00:00:00.000Z",
      actor_id: 77,
      actor_full_name: "Somebody Else",
      actor_email: "else@example.com",
      actor_gravatar: "https://example.com/x",
      actor_api_only: true,
      actor_address: "203.0.113.9",
      actor_token: "ci",
      type: "deleted_team",
      svc_initiated: false,
      details: { team_id: 2, team_name: "Team 1 é \u0001" },
      host_id: 9,
    };
    const derived = [
      "host_only",
      "team_ids",
      "details_text",
      "webhook_url",
      "host_requests",
      "chain_position",
      "chain_hash",
    ];
    const covered = Object.keys(row).filter((name) => !["id", "revision", ...derived].includes(name));
    expect(Object.keys(changes).sort()).toEqual(covered.sort());
    for (const [column, value] of Object.entries(changes)) {
      await t.store.activities.update({ where: eq("id", row.id), set: { [column]: value } });
      const found = await verify(t);
      expect(found.problem, column).toMatchObject({ kind: "edited", position, id: row.id });
      expect(found.ok).toBe(false);
      const before = (row as Record<string, unknown>)[column];
      await t.store.activities.update({ where: eq("id", row.id), set: { [column]: before } });
      expect((await verify(t)).ok, column).toBe(true);
    }
  });

  it("is independent of the order of keys in details", async () => {
    const t = await startApp({ engine });
    await filled(t, 1);
    const row = await at(t, (await verify(t)).last_position!);
    const turned = Object.fromEntries(Object.entries(row.details!).reverse());
    await t.store.activities.update({ where: eq("id", row.id), set: { details: turned } });
    expect((await verify(t)).ok).toBe(true);
  });

  it("stays valid when its actors and their sessions are deleted", async () => {
    const t = await startApp({ engine });
    const maker = await makeUser(t, "admin");
    expect((await maker.post("/packs", { name: "Gone soon" })).status).toBe(200);
    expect((await t.delete(`/users/${maker.id}`)).status).toBe(200);
    await sealAll(t.services);
    expect(await verify(t)).toMatchObject({ ok: true });
    const [entry] = await t.store.activities.list({ where: eq("type", "created_pack") });
    expect(entry).toMatchObject({ actor_id: maker.id });
  });

  it("reveals an edit with a recomputed hash", async () => {
    const t = await startApp({ engine });
    await filled(t, 5);
    const row = await at(t, 3);
    const chain_hash = createHash("sha256").update("whatever").digest("hex");
    await t.store.activities.update({ where: eq("id", row.id), set: { chain_hash } });
    expect((await verify(t)).problem).toMatchObject({ kind: "edited", position: 3, id: row.id });
  });

  it("reveals removed entries in the middle, at the beginning and at the end", async () => {
    const t = await startApp({ engine });
    await filled(t, 8);
    const last = (await verify(t)).last_position!;
    const [middle, first, end] = [await at(t, 4), await at(t, 1), await at(t, last)];
    const back = async ({ revision: _, ...row }: typeof middle) => void (await t.store.activities.insert(row));

    await t.store.activities.delete(eq("id", middle.id));
    expect((await verify(t)).problem).toMatchObject({ kind: "missing", position: 4 });
    await back(middle);
    await t.store.activities.delete(eq("id", first.id));
    expect((await verify(t)).problem).toMatchObject({ kind: "no_checkpoint", position: 1 });
    await back(first);
    await t.store.activities.delete(eq("id", end.id));
    expect((await verify(t)).problem).toMatchObject({ kind: "truncated", position: last });
    await back(end);
    expect((await verify(t)).ok).toBe(true);
  });

  it("reveals the removal of everything", async () => {
    const t = await startApp({ engine });
    await filled(t, 3);
    await t.store.activities.delete(everything);
    expect((await verify(t)).problem).toMatchObject({ kind: "truncated", position: 1 });
    await t.store.activityChain.delete(everything);
    expect((await verify(t)).problem).toMatchObject({ kind: "no_head" });
  });

  it("reveals swapped positions, alone and with their hashes", async () => {
    const t = await startApp({ engine });
    await filled(t, 8);
    const [a, b] = [await at(t, 3), await at(t, 6)];
    const put = async (id: number, chain_position: number | null, chain_hash: string | null) =>
      void (await t.store.activities.update({ where: eq("id", id), set: { chain_position, chain_hash } }));
    await put(a.id, null, a.chain_hash);
    await put(b.id, 3, b.chain_hash);
    await put(a.id, 6, a.chain_hash);
    expect((await verify(t)).problem).toMatchObject({ kind: "swapped", position: 3, id: b.id });
    await put(a.id, 6, b.chain_hash);
    await put(b.id, 3, a.chain_hash);
    expect((await verify(t)).problem).toMatchObject({ kind: "swapped", position: 3, id: b.id });
  });

  it("reveals a forged entry at any position", async () => {
    const t = await startApp({ engine });
    await filled(t, 4);
    const last = (await verify(t)).last_position!;
    const forged = { created_at: t.clock.iso(), type: "created_user", details: {}, chain_hash: "0".repeat(64) };
    for (const [position, problem] of [
      [last + 1, { kind: "inserted", position: last + 1 }],
      [last + 7, { kind: "inserted", position: last + 7 }],
      [0, { kind: "inserted", position: 0 }],
      [-5, { kind: "inserted", position: -5 }],
    ] as const) {
      const row = await t.store.activities.insert({ ...forged, chain_position: position });
      expect((await verify(t)).problem, String(position)).toMatchObject({ ...problem, id: row.id });
      await t.store.activities.delete(eq("id", row.id));
    }
    // At the position of another one, with the rest moved by one.
    for (let position = last; position >= 3; position--)
      await t.store.activities.update({
        where: eq("chain_position", position),
        set: { chain_position: position + 1 },
      });
    await t.store.activities.insert({ ...forged, chain_position: 3 });
    expect((await verify(t)).problem).toMatchObject({ position: 3 });
    expect((await verify(t)).ok).toBe(false);
  });

  it("reveals a chain that was completely rewritten", async () => {
    const t = await startApp({ engine });
    await filled(t, 4);
    const { entryHash, GENESIS } = await import("../../../src/server/platform/activities/chain.ts");
    let link = GENESIS;
    for (const row of await t.store.activities.list({ order: byPlace })) {
      const details = { ...row.details, forged: true };
      link = { position: link.position + 1, hash: entryHash(link, { ...row, details }) };
      await t.store.activities.update({ where: eq("id", row.id), set: { details, chain_hash: link.hash } });
    }
    expect((await verify(t)).problem).toMatchObject({ kind: "rewritten", position: link.position });
    // A matching end does not help: for its signature the key is needed.
    await t.store.activityChain.update({ where: eq("kind", "head"), set: { hash: link.hash } });
    expect((await verify(t)).problem).toMatchObject({ kind: "bad_signature" });
  });

  it("reveals a removed, changed or duplicated record of its end", async () => {
    const t = await startApp({ engine });
    await filled(t, 4);
    const [head] = await t.store.activityChain.list();
    const { id, revision: _, ...row } = head!;
    await t.store.activityChain.delete(eq("id", id));
    expect((await verify(t)).problem).toMatchObject({ kind: "no_head" });
    await t.store.activityChain.insert({ ...row, position: row.position - 1 });
    expect((await verify(t)).problem).toMatchObject({ kind: "bad_signature" });
    await t.store.activityChain.delete(everything);
    await t.store.activityChain.insert({ ...row, kind: "checkpoint" });
    expect((await verify(t)).problem).toMatchObject({ kind: "no_head" });
    await t.store.activityChain.delete(everything);
    await t.store.activityChain.insertMany([row, row]);
    expect((await verify(t)).problem).toMatchObject({ kind: "bad_signature" });
  });

  it("reveals with a recorded end what an older record of the end would hide", async () => {
    const t = await startApp({ engine });
    await filled(t, 4);
    const [{ id: _, revision: __, ...older }] = (await t.store.activityChain.list()) as [never] as unknown as [
      {
        id: number;
        revision: number;
        kind: "head";
        created_at: string;
        position: number;
        hash: string;
        signature: string;
      },
    ];
    await filled(t, 4);
    const { head } = await verify(t);
    const known = `${head!.position}:${head!.hash}`;
    expect((await verify(t, `?known=${known}`)).ok).toBe(true);
    await t.store.activities.delete(gt("chain_position", older.position));
    await t.store.activityChain.update({ where: eq("kind", "head"), set: older });
    expect((await verify(t)).ok).toBe(true);
    expect((await verify(t, `?known=${known}`)).problem).toMatchObject({ kind: "truncated" });
    const other = `${older.position}:${"0".repeat(64)}`;
    expect((await verify(t, `?known=${other}`)).problem).toMatchObject({ kind: "rewritten" });
  });

  it("loses its oldest entries only to expiry, which a signed checkpoint records", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin", { api_only: true });
    await filled(t, 2500);
    await expireAfter(t, 7);
    t.clock.advance(days(8));
    await filled(t, 3);
    const before = (await verify(admin)).last_position!;
    await runJob(t.services, "activity_expiry");
    const found = await verify(admin);
    expect(found).toMatchObject({ ok: true, entries: 3, first_position: before - 2, last_position: before });
    const ends = await t.store.activityChain.list();
    expect(ends.map(({ kind }) => kind).sort()).toEqual(["checkpoint", "head"]);

    const checkpoint = ends.find(({ kind }) => kind === "checkpoint")!;
    expect(checkpoint.position).toBe(before - 3);
    const { id, revision: _, ...row } = checkpoint;
    await t.store.activityChain.delete(eq("id", id));
    expect((await verify(admin)).problem).toMatchObject({ kind: "no_checkpoint" });
    await t.store.activityChain.insert({ ...row, position: row.position + 1 });
    expect((await verify(admin)).problem).toMatchObject({ kind: "bad_signature" });
    await t.store.activityChain.update({ where: eq("kind", "checkpoint"), set: row });
    expect((await verify(admin)).ok).toBe(true);

    // Entries that were deleted manually have not expired.
    await t.store.activities.delete(eq("chain_position", before - 2));
    expect((await verify(admin)).problem).toMatchObject({ kind: "missing", position: before - 2 });
  });

  it("can expire completely, and continues from there", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin", { api_only: true });
    await filled(t, 10);
    await expireAfter(t, 1);
    t.clock.advance(days(3));
    await runJob(t.services, "activity_expiry");
    expect(await t.store.activities.count()).toBe(0);
    expect(await verify(admin)).toMatchObject({ ok: true, entries: 0, first_position: null });
    await filled(t, 2);
    const found = await verify(admin);
    expect(found).toMatchObject({ ok: true, entries: 2 });
    expect(found.first_position).toBeGreaterThan(10);
  });

  it("keeps entries behind one that has not expired, and those without a position", async () => {
    const t = await startApp({ engine });
    const now = t.clock.iso();
    await filled(t, 2);
    await t.store.activities.insert({ created_at: "2020-01-01T00:00:00.000Z", type: "created_team", details: null });
    await sealAll(t.services);
    await expireAfter(t, 1);
    await runJob(t.services, "activity_expiry");
    expect((await t.store.activities.list({ order: byPlace })).map((row) => row.chain_position)[0]).toBe(1);
    expect(await t.store.activities.count(eq("created_at", now))).toBeGreaterThan(2);
    expect((await verify(t)).ok).toBe(true);
  });

  it("is never continued as if it were intact after it was damaged", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin", { api_only: true });
    for (const damage of [
      async () => void (await t.store.activities.delete(eq("chain_position", (await verify(admin)).last_position!))),
      async () => void (await t.store.activityChain.delete(eq("kind", "head"))),
      async () => void (await t.store.activityChain.update({ where: eq("kind", "head"), set: { signature: "0" } })),
      async () => {
        await t.store.activities.update({
          where: eq("chain_position", (await verify(admin)).last_position!),
          set: { chain_hash: "0".repeat(64) },
        });
      },
    ]) {
      await filled(t, 3);
      await damage();
      await filled(t, 3);
      const found = await verify(admin);
      expect(found.ok).toBe(false);
      expect(await t.store.activities.count(eq("chain_position", found.last_position!))).toBe(1);
      // Later entries can still be verified after the break has expired.
      await expireAfter(t, 1);
      t.clock.advance(days(2));
      await filled(t, 3);
      await runJob(t.services, "activity_expiry");
      expect(await verify(admin)).toMatchObject({ ok: true, entries: 3 });
    }
  });

  it("is verified in parts, and only by global admins", async () => {
    const t = await startApp({ engine });
    await filled(t, 1000);
    const whole = await verify(t);
    const part = await verify(t, "?limit=600");
    expect(part).toMatchObject({ ok: true, checked: 600, next: 600 });
    const rest = await verify(t, "?from=600&limit=600");
    expect(rest).toMatchObject({ ok: true, checked: whole.entries - 600, next: null });
    await t.store.activities.delete(gt("chain_position", 900));
    expect(await verify(t, "?limit=600")).toMatchObject({ ok: true, next: 600 });
    expect((await verify(t, "?from=600&limit=600")).problem).toMatchObject({ kind: "truncated", position: 901 });
    expect((await verify(t, "?from=950")).problem).toMatchObject({ kind: "missing", position: 950 });
    for (const bad of ["from=0", "from=x", "limit=0", "known=7", "known=7:xyz", "from=9999999"]) {
      const res = await t.get(`/audit/verify?${bad}`);
      expect(res.status, bad).toBe(400);
      expect(await res.json()).toMatchObject({ errors: [{ name: bad.split("=")[0] }] });
    }
    const team = await makeTeam(t);
    for (const role of ["maintainer", "observer", "observer_plus", "gitops", "technician"] as const)
      expect((await (await makeUser(t, role)).get("/audit/verify")).status, role).toBe(403);
    expect((await (await makeUser(t, { teams: [{ id: team.id, role: "admin" }] })).get("/audit/verify")).status).toBe(
      403,
    );
  });

  it("includes entries from before it began", async () => {
    const t = await startApp({ engine });
    await sealAll(t.services);
    await t.store.activityChain.delete(everything);
    await t.store.serverSecrets.delete(eq("name", "activity_chain"));
    await t.store.activities.delete(everything);
    expect(await verify(t)).toMatchObject({ ok: true, entries: 0, unsealed: 0, head: null });
    const old = { type: "created_team", details: { team_id: 1 } };
    await t.store.activities.insertMany(
      Array.from({ length: 1200 }, (_, i) => ({ ...old, created_at: new Date(1.7e12 + i * 1000).toISOString() })),
    );
    await sealAll(t.services);
    expect(await verify(t)).toMatchObject({ ok: true, entries: 1200, unsealed: 0, first_position: 1 });
    const rows = await t.store.activities.list({ order: byPlace, where: lte("chain_position", 3) });
    expect(rows.map((row) => row.created_at)).toEqual(rows.map((row) => row.created_at).sort());
  });
});

describe.each(bothEngines)("the chain that several servers seal on %s", (engine) => {
  it("has no fork, however many servers seal at once, and each entry is sent to the webhook once, in order", async () => {
    const t = await startApp({ engine });
    await sealAll(t.services);
    const before = (await verify(t)).last_position!;
    const hook = { enable_activities_webhook: true, destination_url: "http://127.0.0.1:9/hook" };
    const value = { ...sections.webhook_settings.defaults, activities_webhook: hook };
    await writeSection(t.store, sections.webhook_settings, value, t.clock.iso());
    await t.store.notify(channels.config, "webhook_settings");
    const others = Array.from({ length: 3 }, () => withRunning(t.services));
    await Promise.all(
      Array.from({ length: 9 }, async (_, i) => {
        await recordActivity(serviceContext(t.services), "created_team", { team_id: i + 1, team_name: "x" });
        await sealAll(others[i % 3]!);
      }),
    );
    await Promise.all([...others, t.services].map((services) => sealAll(services)));
    const rows = await t.store.activities.list({ order: byPlace });
    expect(rows.map((row) => row.chain_position)).toEqual(rows.map((_, i) => i + 1));
    expect((await verify(t)).ok).toBe(true);
    const sent = await t.store.outbox.list({ where: eq("event", "activities") });
    const told = sent.map(({ payload }) => (payload.details as { team_id: number }).team_id);
    const sealed = rows.filter((row) => row.chain_position! > before).map(({ details }) => details?.team_id);
    expect(told).toEqual(sealed);
    expect(told).toHaveLength(9);
  });
});

it("is also checked without a server, together with everything else in the store", async () => {
  const t = await startApp();
  const place = join(t.services.settings.data_dir, "other");
  const where = { place, dataDir: place, env: {} };
  const change = async (work: (services: Services) => Promise<unknown>) => {
    const { store } = await openDataPlace({ ...where, create: true, log: t.services.log });
    await work({ ...t.services, store });
    await store.close();
  };
  await change(async (services) => {
    const entry = { team_id: 1, team_name: "x" };
    await recordActivities(serviceContext(services), "created_team", [entry, entry, entry]);
    await sealAll(services);
  });
  expect((await checkData(where, () => {})).problems).toEqual([]);
  await change(({ store }) =>
    store.activities.update({ where: eq("chain_position", 2), set: { type: "deleted_team" } }),
  );
  expect((await checkData(where, () => {})).problems).toEqual([expect.stringMatching(/^activities: edited: /)]);
});
