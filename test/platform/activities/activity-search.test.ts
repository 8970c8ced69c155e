// Activities by team and by the text in their details.
import { beforeEach, describe, expect, it } from "vitest";
import type { Activity } from "../../../src/api/platform/activities.ts";
import { readEvents } from "../../../src/client/events.ts";
import { searchedPart } from "../../../src/server/hosts/activity-feed/filters.ts";
import { recordActivities, recordActivity } from "../../../src/server/platform/activities/record.ts";
import { textIn } from "../../../src/server/platform/activities/search.ts";
import { activitySearch } from "../../../src/server/platform/activities/search-job.ts";
import { verifyChain } from "../../../src/server/platform/activities/verify.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { sealAll } from "../../../src/server/platform/outbox/activities.ts";
import { everything, gt } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";

const listed = async (t: Pick<TestApp, "get">, query: string): Promise<Activity[]> => {
  const res = await t.get(`/activities?order_key=id&${query}`);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { activities: Activity[] }).activities;
};
const typesOf = async (t: Pick<TestApp, "get">, query: string) => (await listed(t, query)).map(({ type }) => type);

describe.each(bothEngines)("activities on %s", (engine) => {
  let t: TestApp;
  let sales: { readonly id: number };
  let lab: { readonly id: number };
  beforeEach(async () => {
    t = await startApp({ engine });
    sales = await makeTeam(t, "Sales");
    lab = await makeTeam(t, "Lab");
    await t.store.activities.delete(everything);
  });
  const record = () => serviceContext(t.services);

  it("are listed by the team in their details, or of their host at that time", async () => {
    const host = await makeHost(t, { display_name: "ada-mac", team_id: sales.id });
    const details = { host_id: host.id, host_display_name: "ada-mac" };
    await recordActivity(record(), "created_team", { team_id: sales.id, team_name: "Sales" });
    await recordActivity(record(), "read_host_disk_encryption_key", details);
    await recordActivity(record(), "locked_host", { ...details, view_pin: false }, { hostId: host.id });
    await recordActivity(record(), "created_label", { label_id: 1, label_name: "L" });
    await t.store.hosts.updateEach([{ id: host.id, team_id: lab.id }]);
    await recordActivity(record(), "cleared_passcode", details, { hostId: host.id });
    await recordActivity(record(), "applied_spec_team", {
      teams: [
        { id: lab.id, name: "Lab" },
        { id: sales.id, name: "Sales" },
      ],
    });
    expect(await typesOf(t, `team_id=${sales.id}`)).toEqual([
      "created_team",
      "read_host_disk_encryption_key",
      "locked_host",
      "applied_spec_team",
    ]);
    expect(await typesOf(t, `team_id=${lab.id}&activity_type=cleared_passcode,locked_host`)).toEqual([
      "cleared_passcode",
    ]);
    expect(await typesOf(t, "team_id=9999")).toEqual([]);
  });

  it("without a team are those of hosts without one, not those of everyone", async () => {
    const policy = { policy_id: 1, policy_name: "P" };
    await recordActivity(record(), "created_policy", { ...policy, team_id: -1 });
    await recordActivity(record(), "edited_policy", { ...policy, team_id: 0 });
    await recordActivity(record(), "added_script", { script_name: "s", team_id: null, team_name: null });
    await recordActivity(record(), "edited_enroll_secrets", { team_id: null, team_name: null });
    await recordActivity(record(), "created_view", {
      view_id: 1,
      view_name: "V",
      page: "hosts",
      team_id: null,
      team_name: null,
    });
    expect(await typesOf(t, "team_id=0")).toEqual(["edited_policy", "added_script"]);
  });

  it("of moved and deleted hosts concern the teams in which these were", async () => {
    const host = await makeHost(t, { team_id: sales.id });
    expect((await t.post("/hosts/transfer", { team_id: lab.id, hosts: [host.id] })).status).toBe(200);
    expect(await typesOf(t, `team_id=${sales.id}`)).toEqual(["transferred_hosts"]);
    expect(await typesOf(t, `team_id=${lab.id}`)).toEqual(["transferred_hosts"]);
    expect((await t.delete(`/hosts/${host.id}`)).status).toBe(200);
    expect(await typesOf(t, `team_id=${lab.id}`)).toEqual(["transferred_hosts", "deleted_host"]);
  });

  it("are found by texts and numbers in their details, in any case, not by names of fields", async () => {
    await recordActivities(record(), "created_label", [
      { label_id: 41, label_name: "Größe 100%_Über" },
      { label_id: 7, label_name: "Kiosk" },
    ]);
    await recordActivity(record(), "edited_config", {
      sections: ["org_info"],
      changes: [{ path: "org_info.org_name", old: "Acme", new: { deep: ["Umbrella"] } }],
    });
    const namesWith = async (text: string) =>
      (await listed(t, `details=${encodeURIComponent(text)}`)).map(({ details }) => details?.label_name ?? "config");
    expect(await namesWith("kiosk")).toEqual(["Kiosk"]);
    expect(await namesWith("größe 100%_ü")).toEqual(["Größe 100%_Über"]);
    expect(await namesWith("%")).toEqual(["Größe 100%_Über"]);
    expect(await namesWith("41")).toEqual(["Größe 100%_Über"]);
    expect(await namesWith("UMBRELLA")).toEqual(["config"]);
    expect(await namesWith("label_name")).toEqual([]);
    expect(await namesWith("nowhere")).toEqual([]);
  });

  it("are exported and followed by the same filters", async () => {
    await recordActivity(record(), "created_team", { team_id: sales.id, team_name: "Sales" });
    await recordActivity(record(), "created_team", { team_id: lab.id, team_name: "Lab" });
    await recordActivity(record(), "created_label", { label_id: 1, label_name: "Lab" });
    for (const [filter, count] of [
      [`team_id=${lab.id}`, 1],
      ["details=lab", 2],
      [`team_id=${lab.id}&details=lab`, 1],
      [`team_id=${sales.id}&details=lab`, 0],
    ] as const) {
      const text = await (await t.get(`/activities/export?${filter}`)).text();
      expect(text.split("\n").filter(Boolean), filter).toHaveLength(count);
      const stream = await t.get(`/activities/stream?once=true&last=10&${filter}`);
      const events: string[] = [];
      for await (const { event } of readEvents(stream.body!)) if (event === "activity") events.push(event);
      expect(events, filter).toHaveLength(count);
    }
  });

  it("keep a valid chain, also when those of earlier versions are filled in", async () => {
    t = await startApp({ engine });
    lab = await makeTeam(t, "Lab");
    const host = await makeHost(t, { team_id: lab.id });
    await recordActivity(record(), "created_team", { team_id: 7, team_name: "Sales" });
    await recordActivity(record(), "cleared_passcode", { host_id: host.id, host_display_name: "ada-mac" });
    await sealAll(t.services);
    await t.store.activities.update({ where: everything, set: { team_ids: null, details_text: null } });
    expect(await typesOf(t, "details=sales")).toEqual([]);
    await activitySearch.run(t.services, new AbortController().signal);
    expect(await typesOf(t, "details=sales")).toEqual(["created_team"]);
    expect(await typesOf(t, `team_id=${lab.id}`)).toEqual(["cleared_passcode"]);
    expect(await verifyChain(t.store)).toMatchObject({ ok: true, unsealed: 0 });
  });

  it("are for those who may read all activities, and their teams are premium", async () => {
    const admin = await makeUser(t, { teams: [{ id: sales.id, role: "admin" }] });
    expect((await admin.get(`/activities?team_id=${sales.id}`)).status).toBe(403);
    expect((await admin.get("/activities?details=x")).status).toBe(403);
    const free = await startApp({ engine, tier: "free" });
    expect((await free.get("/activities?team_id=1")).status).toBe(402);
    expect((await free.get("/activities?details=x")).status).toBe(200);
    expect((await t.get("/activities?team_id=-1")).status).toBe(400);
  });

  it("of a team are paged in any order, be they many, or few and all of them old", async () => {
    const start = Date.parse("2026-01-01T00:00:00.000Z");
    const count = 3_500;
    const teamAt = (n: number) => (n < 60 ? sales.id : n % 2 === 0 ? lab.id : 0);
    await t.store.activities.insertMany(
      Array.from({ length: count }, (_, n) => ({
        created_at: new Date(start + n * 1000).toISOString(),
        type: "a",
        details: null,
        team_ids: [teamAt(n)],
        details_text: String(n),
        host_only: n % 10 === 0,
      })),
    );
    const rows = await t.store.activities.list({ order: [{ column: "id", direction: "asc" }] });
    for (const team of [sales.id, lab.id, 0, 9_999]) {
      const ids = rows.filter((row) => row.team_ids!.includes(team) && !row.host_only).map(({ id }) => id);
      for (const direction of ["asc", "desc"])
        for (const key of ["created_at", "id"])
          for (const page of [0, 1, 2, 20]) {
            const query = `team_id=${team}&order_key=${key}&order_direction=${direction}&per_page=25&page=${page}`;
            const { activities } = (await (await t.get(`/activities?${query}`)).json()) as { activities: Activity[] };
            const expected = direction === "asc" ? ids : ids.toReversed();
            expect(
              activities.map(({ id }) => id),
              query,
            ).toEqual(expected.slice(page * 25, page * 25 + 25));
          }
    }
  });

  it("are searched among the newest million before the end of the time", async () => {
    const row = { type: "a", details: null };
    const early = await t.store.activities.insert({ ...row, created_at: "2026-01-01T00:00:00.000Z" });
    const late = await t.store.activities.insert({ ...row, created_at: "2026-01-03T00:00:00.000Z" });
    expect(await searchedPart(t, { details: "x" })).toEqual(gt("id", late.id - 1_000_000));
    expect(await searchedPart(t, { details: "x", end_created_at: "2026-01-02" })).toEqual(
      gt("id", early.id - 1_000_000),
    );
    expect(await searchedPart(t, {})).toEqual(everything);
  });
});

describe("the searched text of an activity", () => {
  it("has the names in long lists first, and an end", () => {
    const host_ids = Array.from({ length: 5_000 }, (_, n) => n);
    expect(textIn({ host_ids, host_display_names: ["ada-mac"] }).startsWith("ada-mac\n0\n1\n")).toBe(true);
    expect(textIn({ query: "x".repeat(5_000) })).toHaveLength(2_000);
    expect(textIn({ a: true, b: null, c: "" })).toBe("");
    expect(textIn(null)).toBe("");
    expect(textIn({ text: `${"x".repeat(1_999)}😀` }).isWellFormed()).toBe(true);
  });
});
