import { describe, expect, it } from "vitest";
import type { Activity } from "../../../src/api/platform/activities.ts";
import { readEvents } from "../../../src/client/events.ts";
import { authenticate } from "../../../src/server/accounts/sessions/auth.ts";
import { activityFeed } from "../../../src/server/hosts/activity-feed/feed.ts";
import { follow } from "../../../src/server/hosts/activity-feed/follow.ts";
import { expireActivities } from "../../../src/server/platform/activities/expiry.ts";
import { recordActivities, recordActivity } from "../../../src/server/platform/activities/record.ts";
import { days, isoAt } from "../../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { sealAll } from "../../../src/server/platform/outbox/activities.ts";
import { eq, everything } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";

const at = (hour: number) => `2026-02-01T${String(hour).padStart(2, "0")}:00:00.000Z`;

async function fill(t: TestApp) {
  await t.store.activities.delete(everything);
  const row = { details: null, actor_api_only: false, actor_gravatar: "" };
  await t.store.activities.insertMany([
    { ...row, created_at: at(3), type: "b", actor_full_name: "Grace Hopper", actor_email: "grace@example.com" },
    { ...row, created_at: at(1), type: "a", actor_full_name: "Ada Lovelace", actor_email: "ada@example.org" },
    { ...row, created_at: at(2), type: "a", actor_full_name: "svc", svc_initiated: true, details: { x: 1 } },
    { created_at: at(4), type: "c", details: { email: "who" } },
  ]);
}

const listed = async (t: Pick<TestApp, "get">, query = "") => {
  const res = await t.get(`/activities?${query}`);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { activities: Activity[] }).activities;
};

describe.each(rulesEngines)("activities on %s", (engine) => {
  it("are listed by search, type, time and order", async () => {
    const t = await startApp({ engine });
    await fill(t);
    const times = async (query: string) => (await listed(t, query)).map((a) => Number(a.created_at.slice(11, 13)));
    expect(await times("")).toEqual([1, 2, 3, 4]);
    expect(await times("order_key=created_at&order_direction=desc")).toEqual([4, 3, 2, 1]);
    expect(await times("activity_type=a")).toEqual([1, 2]);
    expect(await times("query=HOPPER")).toEqual([3]);
    expect(await times("query=example.org")).toEqual([1]);
    expect(await times(`start_created_at=${at(2)}`)).toEqual([3, 4]);
    expect(await times("order_key=id")).toEqual([3, 1, 2, 4]);
    expect(await times(`end_created_at=${at(2)}`)).toEqual([1]);
    expect(await times(`start_created_at=${at(1)}&end_created_at=${at(3)}`)).toEqual([2]);
    expect(await times("start_created_at=2026-02-01T03:30:00%2B01:00")).toEqual([3, 4]);
    expect(await times("start_created_at=2026-02-01T03:30:00+01:00")).toEqual([3, 4]);
    expect(await times("end_created_at=2026-02-01")).toEqual([]);
    expect(await times("start_created_at=2026-02-01&per_page=2&page=1")).toEqual([3, 4]);
  });

  it("have no actor if the service acted itself, or an unknown user", async () => {
    const t = await startApp({ engine });
    await fill(t);
    const [, service, grace, failed] = await listed(t);
    expect(grace).toMatchObject({ actor_full_name: "Grace Hopper", actor_api_only: false, svc_initiated: false });
    expect(service).toEqual({ id: service!.id, created_at: at(2), type: "a", svc_initiated: true, details: { x: 1 } });
    expect(failed).toEqual({
      id: failed!.id,
      created_at: at(4),
      type: "c",
      svc_initiated: false,
      details: { email: "who" },
    });
  });

  it("refuse invalid times and order keys", async () => {
    const t = await startApp({ engine });
    for (const [query, name] of [
      ["start_created_at=yesterday", "start_created_at"],
      ["end_created_at=2026-13-01", "end_created_at"],
      ["end_created_at=2026-02-01T00:00:00Zjunk", "end_created_at"],
      ["end_created_at=1", "end_created_at"],
      ["order_key=details", "order_key"],
      ["order_direction=asc", "order_key"],
      ["page=x", "page"],
    ]) {
      const res = await t.get(`/activities?${query}`);
      expect(res.status, query).toBe(400);
      expect(await res.json()).toMatchObject({ errors: [{ name }] });
    }
  });

  it("are for global roles only", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    expect((await (await makeUser(t, { teams: [{ id: team.id, role: "admin" }] })).get("/activities")).status).toBe(
      403,
    );
    expect((await (await makeUser(t, "gitops")).get("/activities")).status).toBe(403);
    expect((await (await makeUser(t, "observer")).get("/activities")).status).toBe(200);
  });

  it("are listed by types, actor and host, and at most 10,000 at once", async () => {
    const t = await startApp({ engine });
    await t.store.activities.delete(everything);
    const at = t.clock.iso();
    await t.store.activities.insertMany([
      { created_at: at, type: "a", details: { n: 1 }, actor_id: 1 },
      { created_at: at, type: "b", details: { n: 2 }, actor_id: 2, host_id: 7 },
      { created_at: at, type: "c", details: { n: 3 }, actor_id: 2 },
    ]);
    const found = async (query: string) => (await listed(t, query)).map(({ details }) => details?.n);
    expect(await found("activity_type=a,c")).toEqual([1, 3]);
    expect(await found("activity_type= b , ,")).toEqual([2]);
    expect(await found("actor_id=2")).toEqual([2, 3]);
    expect(await found("actor_id=2&activity_type=a,b")).toEqual([2]);
    expect(await found("host_id=7")).toEqual([2]);
    expect(await found("cursor=&actor_id=2&order_key=id&order_direction=desc")).toEqual([3, 2]);
    for (const bad of ["actor_id=x", "host_id=0", `activity_type=${Array(300).fill("a").join(",")}`]) {
      const res = await t.get(`/activities?${bad}`);
      expect(res.status, bad).toBe(400);
      expect(await res.json()).toMatchObject({ errors: [{ name: bad.split("=")[0] }] });
    }
    await t.store.activities.insertMany(
      Array.from({ length: 10_010 }, () => ({ created_at: at, type: "many", details: null })),
    );
    for (const query of [
      "activity_type=many",
      "activity_type=many&per_page=10000",
      "activity_type=many&per_page=10000&cursor=",
    ]) {
      const body = (await (await t.get(`/activities?${query}`)).json()) as { activities: unknown[]; meta: object };
      expect(body.activities, query).toHaveLength(10_000);
      expect(body.meta, query).toMatchObject({ has_next_results: true });
    }
    const tooMany = await t.get("/activities?per_page=10001");
    expect([tooMany.status, await tooMany.json()]).toMatchObject([400, { errors: [{ name: "per_page" }] }]);
    expect(await listed(t, "activity_type=many&page=1")).toHaveLength(20);
  });

  it("contain address and token of the caller, for users who may see the whole feed", async () => {
    const t = await startApp({ engine, settings: { trusted_proxies: "127.0.0.1,0.0.0.0/0,::/0" } });
    const host = await makeHost(t);
    const robot = await makeUser(t, "admin", { api_only: true });
    const from = { "x-forwarded-for": "198.51.100.7" };
    await t.store.sessions.update({
      where: eq("user_id", robot.id),
      set: { kind: "token", name: "nightly" },
    });
    const made = await robot.request("POST", "/packs", { name: "One" }, from);
    expect(made.status).toBe(200);
    const [entry] = await listed(t, "activity_type=created_pack");
    expect(entry).toMatchObject({ actor_id: robot.id, actor_token: "nightly" });
    await recordActivity(
      { ...serviceContext(t.services), address: "198.51.100.9" },
      "wiped_host",
      {
        host_id: host.id,
        host_display_name: "x",
        host_platform: "ubuntu",
      },
      { hostId: host.id },
    );
    expect((await listed(t, "activity_type=wiped_host"))[0]).toMatchObject({ actor_address: "198.51.100.9" });
    const own = (await (await t.get(`/hosts/${host.id}/activities`)).json()) as { activities: Activity[] };
    expect(own.activities).toHaveLength(1);
    expect(own.activities[0]).not.toHaveProperty("actor_address");
    // Actions of the service itself have no address.
    await recordActivity(serviceContext(t.services), "deleted_team", { team_id: 1, team_name: "x" });
    const [service] = await listed(t, "activity_type=deleted_team");
    expect(service).not.toHaveProperty("actor_address");
    expect(service).not.toHaveProperty("actor_token");
  });

  it("contain the address that agents enroll from", async () => {
    const t = await startApp({ engine });
    await t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "enroll-me" }] } });
    for (const [identifier, address] of [
      ["one", "203.0.113.1"],
      ["two", "203.0.113.2"],
    ] as const) {
      const body = Buffer.from(JSON.stringify({ enroll_secret: "enroll-me", host_identifier: identifier }));
      await t.agent.replyTo("enroll", { body, authorization: undefined, address });
    }
    const entries = await listed(t, "activity_type=svc_enrolled");
    expect(entries.map(({ actor_address }) => actor_address)).toEqual(["203.0.113.1", "203.0.113.2"]);
  });

  it("are exported completely, as ndjson and as csv without formulas", async () => {
    const t = await startApp({ engine });
    await fill(t);
    await t.store.activities.insertMany(
      Array.from({ length: 1100 }, (_, i) => ({
        created_at: at(5),
        type: "many",
        details: { i },
        actor_full_name: i === 0 ? '=HYPERLINK("x"),\n"quoted"' : "@SUM(1)",
        actor_email: "+1@example.com",
        actor_id: 1,
        actor_api_only: false,
      })),
    );
    const res = await t.get("/activities/export");
    expect(res.headers.get("content-type")).toBe("application/x-ndjson");
    expect(res.headers.get("content-disposition")).toMatch(
      /^attachment; filename="activities-\d{4}-\d\d-\d\d\.ndjson"$/,
    );
    const lines = (await res.text()).trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as Activity);
    expect(entries).toEqual(await listed(t, "order_key=id"));
    expect(entries).toHaveLength(1104);

    const few = await (await t.get(`/activities/export?activity_type=a&start_created_at=${at(1)}`)).text();
    expect(few.trimEnd().split("\n")).toHaveLength(1);
    expect(await (await t.get("/activities/export?activity_type=none")).text()).toBe("");

    const csv = await t.get("/activities/export?format=csv&activity_type=many,c");
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const rows = parseCsv(await csv.text());
    expect(rows).toHaveLength(1101);
    expect(rows[0]).toMatchObject({
      type: "c",
      actor_full_name: "",
      svc_initiated: "false",
      details: '{"email":"who"}',
    });
    expect(rows[1]).toMatchObject({
      actor_full_name: `'=HYPERLINK("x"),\n"quoted"`,
      actor_email: "'+1@example.com",
      details: '{"i":0}',
    });
    expect(rows[2]?.actor_full_name).toBe("'@SUM(1)");
    for (const bad of ["format=xml", "start_created_at=yesterday", "actor_id=x"]) {
      const refused = await t.get(`/activities/export?${bad}`);
      expect(refused.status, bad).toBe(400);
      expect(await refused.json()).toMatchObject({ errors: [{ name: bad.split("=")[0] }] });
    }
  });

  it("are followed in the order of the chain, each once, from the reader's position", async () => {
    const t = await startApp({ engine });
    await record(t, 5);
    await sealAll(t.services);
    const read = async (query: string, headers: Record<string, string> = {}) => {
      const res = await t.get(`/activities/stream?once=true&${query}`, headers);
      expect(res.status, await (res.ok ? "" : res.clone().text())).toBe(200);
      expect(res.headers.get("content-type")).toContain("text/event-stream");
      const events = [];
      for await (const event of readEvents(res.body!)) events.push(event);
      return events;
    };
    const numbers = (events: { event: string; data: string }[]) =>
      events.filter(({ event }) => event === "activity").map(({ data }) => JSON.parse(data).details.team_id);
    expect(numbers(await read("last=2"))).toEqual([4, 5]);
    expect(numbers(await read("last=3&activity_type=created_team"))).toEqual([3, 4, 5]);
    expect(numbers(await read("activity_type=created_team", { "last-event-id": "0" }))).toEqual([1, 2, 3, 4, 5]);
    const start = await read("");
    expect(numbers(start)).toEqual([]);
    const place = start.at(-1)!.id;
    await record(t, 2);
    await sealAll(t.services);
    const more = await read("", { "last-event-id": place });
    expect(numbers(more)).toEqual([1, 2]);
    expect(more.filter(({ event }) => event === "activity").map(({ id }) => Number(id))).toEqual([
      Number(place) + 1,
      Number(place) + 2,
    ]);
    // A position after the end is treated as the end.
    expect(numbers(await read("", { "last-event-id": "999999" }))).toEqual([]);
    for (const [query, headers, name] of [
      ["last=1001", {}, "last"],
      ["last=-1", {}, "last"],
      ["actor_id=x", {}, "actor_id"],
      ["", { "last-event-id": "x" }, "Last-Event-ID"],
    ] as const) {
      const res = await t.get(`/activities/stream?once=true&${query}`, headers);
      expect(res.status, query).toBe(400);
      expect(await res.json()).toMatchObject({ errors: [{ name }] });
    }
  });

  it("report to a reader what expired before it was read", async () => {
    const t = await startApp({ engine });
    const admin = await makeUser(t, "admin", { api_only: true });
    await record(t, 4);
    await sealAll(t.services);
    t.clock.advance(days(3));
    await record(t, 1);
    await sealAll(t.services);
    await expireActivities(t.services, isoAt(t.clock.now() - days(1)), new AbortController().signal);
    const res = await admin.get("/activities/stream?once=true", { "last-event-id": "2" });
    const events = [];
    for await (const event of readEvents(res.body!)) if (event.event !== "quiet") events.push(event);
    const first = (await t.store.activities.list())[0]!.chain_position!;
    expect(events.map(({ event }) => event)).toEqual(["gap", "activity"]);
    expect(JSON.parse(events[0]!.data)).toEqual({ from: 3, to: first - 1 });
  });

  it("are sent to a reader only as long as it may read them", async () => {
    const t = await startApp({ engine });
    const stop = new AbortController();
    for (const end of [
      async (id: number) => void (await t.store.sessions.delete(eq("user_id", id))),
      async (id: number) => void (await t.delete(`/users/${id}`)),
      async (id: number) => void (await t.store.users.update({ where: eq("id", id), set: { global_role: "gitops" } })),
    ]) {
      const reader = await makeUser(t, "observer");
      const user = (await authenticate(t.services, `Bearer ${reader.token}`))!;
      const ctx = { ...serviceContext(t.services), user };
      const options = { where: eq("type", "never"), after: null, last: 0, once: false, lookEvery: 20 };
      const events = follow(ctx, options, stop.signal);
      expect((await events.next()).done).toBe(false);
      expect((await events.next()).value).toMatchObject({ type: "quiet" });
      await end(reader.id);
      for (let left = 20; !(await events.next()).done; left--) expect(left).toBeGreaterThan(0);
    }
  });

  it("are sent to a reader as they are recorded, until it disconnects or the server stops", async () => {
    const t = await startApp({ engine });
    await sealAll(t.services);
    const res = await t.get("/activities/stream?activity_type=created_team");
    const events = readEvents(res.body!);
    expect((await events.next()).value).toMatchObject({ event: "quiet" });
    expect(t.services.running.of(activityFeed).readers).toBe(1);
    const coming = events.next();
    await record(t, 1);
    const { value } = await coming;
    expect(value).toMatchObject({ event: "activity" });
    expect(JSON.parse(value!.data)).toMatchObject({ type: "created_team", svc_initiated: true });

    const other = await t.get("/activities/stream");
    const reader = other.body!.getReader();
    await reader.read();
    await reader.read();
    expect(t.services.running.of(activityFeed).readers).toBe(2);
    await reader.cancel();
    expect(t.services.running.of(activityFeed).readers).toBe(1);

    const end = events.next();
    t.services.running.of(activityFeed).endStreams();
    expect((await end).done).toBe(true);
    expect(t.services.running.of(activityFeed).readers).toBe(0);
  });
});

/** A simple parser for RFC 4180: rows by their column names. */
function parseCsv(text: string): Record<string, string>[] {
  const records: string[][] = [[]];
  for (let i = 0; i < text.length; i++) {
    let cell = "";
    if (text[i] === '"') {
      for (i++; text[i] !== '"' || text[i + 1] === '"'; i++) {
        cell += text[i];
        if (text[i] === '"') i++;
      }
      i++;
    } else while (i < text.length && text[i] !== "," && !text.startsWith("\r\n", i)) cell += text[i++];
    records.at(-1)!.push(cell);
    if (!text.startsWith("\r\n", i)) continue;
    i++;
    records.push([]);
  }
  const [names, ...rows] = records.filter((record) => record.length > 0);
  return rows.map((row) => Object.fromEntries(names!.map((name, i) => [name, row[i]!])));
}

const record = (t: TestApp, count: number) =>
  recordActivities(
    serviceContext(t.services),
    "created_team",
    Array.from({ length: count }, (_, i) => ({ team_id: i + 1, team_name: "x" })),
  );
