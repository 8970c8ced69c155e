// Events in the calendars of users whose hosts fail policies of their team: integrations.calendar,
// calendar_events_enabled, enable_calendar_events, webhook_url.
import { describe, expect, it } from "vitest";
import { calendarJob } from "../../src/server/automations/calendar/job.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { days, hours, minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { type CalendarService, calendarError, startCalendar } from "../support/calendar.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makePolicy, makeResults, makeUser } from "../support/make.ts";
import { startReceiver } from "../support/receiver.ts";
import { withSecondServer } from "../support/second-server.ts";

const ANN = "ann@example.com";
const BOB = "bob@example.com";

async function start(engine: "lowdb" | "postgres", calendar: CalendarService, url = "https://hooks.example.com/c") {
  const settings = { ...calendar.settings, outbound_allow: "127.0.0.1" };
  const t = await startApp({ engine, settings });
  calendar.now = () => new Date(t.clock.now());
  // A Monday, ten o'clock in Berlin.
  t.clock.advance(Date.parse("2026-03-02T09:00:00Z") - t.clock.now());
  const integrations = { calendar: [calendar.integration] };
  expect((await t.patch("/config", { org_info: { org_name: "Example" }, integrations })).status).toBe(200);
  const { team } = (await (await t.post("/teams", { name: "Laptops" })).json()) as { team: { id: number } };
  await turn(t, team.id, true, url);
  const policy = await makePolicy(t, {
    team_id: team.id,
    name: "Disk encrypted",
    description: "Lost disks are readable.",
    resolution: "Turn encryption on.",
    calendar_events_enabled: true,
  });
  const run = () => runJob(t.services, "calendar");
  return { t, teamId: team.id, policy, run };
}

async function turn(t: TestApp, teamId: number, on: boolean, webhook_url: string) {
  const calendar = { enable_calendar_events: on, webhook_url };
  expect((await t.patch(`/teams/${teamId}`, { integrations: { calendar } })).status).toBe(200);
}

type Policy = Awaited<ReturnType<typeof makePolicy>>;

async function failingHost(t: TestApp, team_id: number, policies: Policy[], email: string | null = ANN) {
  const host = await makeHost(t, { team_id, hostname: "laptop-1", hardware_serial: "C02LAPTOP" });
  await makeResults(t, host.id, { failing: policies });
  if (email !== null) await t.store.hostEmails.insert({ host_id: host.id, email, source: "custom" });
  return host;
}

const activities = async (t: TestApp, type: string) =>
  (await t.store.activities.list({ where: eq("type", type) })).map(({ details }) => details);
const called = (calendar: CalendarService, method: string) =>
  calendar.requests.filter((one) => one.method === method && one.url.pathname.startsWith("/v3/")).length;

describe.each(bothEngines)("calendar events on %s", (engine) => {
  it("are created, begin with a webhook, and come again a week later while the host fails", async () => {
    const receiver = await startReceiver();
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar, receiver.url);
    const host = await failingHost(t, teamId, [policy]);
    calendar.calendars.get(ANN)!.push({
      id: "meeting",
      status: "confirmed",
      start: { dateTime: "2026-03-03T09:00:00+01:00" },
      end: { dateTime: "2026-03-03T11:00:00+01:00" },
    });
    await run();
    const [event] = calendar.own(ANN);
    expect(event).toMatchObject({
      status: "confirmed",
      summary: "Maintenance of your computer",
      start: { dateTime: "2026-03-03T10:00:00.000Z", timeZone: "Europe/Berlin" },
      end: { dateTime: "2026-03-03T10:30:00.000Z" },
    });
    // The session of an API-only user does not end meanwhile.
    const robot = await makeUser(t, "admin", { api_only: true });
    const window = async () => {
      const shown = (await (await robot.get(`/hosts/${host.id}`)).json()) as { host: { maintenance_window?: unknown } };
      return shown.host.maintenance_window;
    };
    expect(await window()).toEqual({ starts_at: "2026-03-03T11:00:00+01:00", timezone: "Europe/Berlin" });
    const named = (await (await robot.get(`/hosts/identifier/${host.hostname}`)).json()) as { host: object };
    expect(named.host).toMatchObject({ maintenance_window: await window() });
    const { hosts } = (await (await t.get("/hosts")).json()) as { hosts: object[] };
    expect(hosts[0]).not.toHaveProperty("maintenance_window");
    for (const part of ["Example", "laptop-1", "Disk encrypted", "Lost disks are readable.", "Turn encryption on."])
      expect(event!.description).toContain(part);
    expect(await t.store.policyRuns.count(eq("status", "success"))).toBeGreaterThan(0);
    expect(await activities(t, "ran_automation_calendar_event")).toEqual([
      { policy_id: policy.id, policy_name: policy.name, status_code: 200 },
    ]);
    await run();
    expect([called(calendar, "POST"), await t.store.outbox.count()]).toEqual([1, 0]);

    t.clock.advance(Date.parse("2026-03-03T10:04:00Z") - t.clock.now());
    await run();
    await receiver.got(1);
    expect(receiver.bodies()).toEqual([
      {
        timestamp: "2026-03-03T10:04:00.000Z",
        host_id: host.id,
        host_display_name: host.display_name,
        host_serial_number: "C02LAPTOP",
        failing_policies: [{ id: policy.id, name: "Disk encrypted" }],
      },
    ]);
    await run();
    t.clock.advance(days(6));
    await run();
    expect([await t.store.outbox.count(), calendar.own(ANN).length]).toEqual([1, 1]);
    t.clock.advance(days(2));
    // The next one is planned, then created.
    await run();
    await run();
    expect(calendar.own(ANN)).toHaveLength(2);
    expect(called(calendar, "DELETE")).toBe(0);
    t.clock.advance(days(5));
    // What is over is no window.
    expect(await window()).toBeNull();
  });

  it("go when the host passes, leaves, or is deleted", async () => {
    const calendar = await startCalendar(ANN, BOB);
    const { t, teamId, policy, run } = await start(engine, calendar);
    const passing = await failingHost(t, teamId, [policy]);
    const deleted = await failingHost(t, teamId, [policy], BOB);
    await run();
    expect([calendar.own(ANN), calendar.own(BOB)].map(([event]) => event?.status)).toEqual(["confirmed", "confirmed"]);
    await makeResults(t, passing.id, { passing: [policy] });
    expect((await t.delete(`/hosts/${deleted.id}`)).status).toBe(200);
    await run();
    expect([calendar.own(ANN), calendar.own(BOB)].map(([event]) => event?.status)).toEqual(["cancelled", "cancelled"]);
    expect(await t.store.calendarEvents.count()).toBe(0);

    await makeResults(t, passing.id, { failing: [policy] });
    await run();
    await turn(t, teamId, false, "");
    await run();
    expect(calendar.own(ANN).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });
});

describe("with two servers", () => {
  it("that do the job at the same time, each host gets one event and the team one webhook", async () => {
    const receiver = await startReceiver();
    const calendar = await startCalendar(ANN, BOB);
    const { t, teamId, policy } = await start("postgres", calendar, receiver.url);
    await failingHost(t, teamId, [policy]);
    await failingHost(t, teamId, [policy], BOB);
    const { signal } = new AbortController();
    await withSecondServer(t, async (there) => {
      const both = () => Promise.all([t, there].map(({ services }) => calendarJob.run(services, signal)));
      await both();
      expect([calendar.own(ANN).length, calendar.own(BOB).length]).toEqual([1, 1]);
      expect(await activities(t, "ran_automation_calendar_event")).toHaveLength(2);
      t.clock.advance(Date.parse("2026-03-03T08:01:00Z") - t.clock.now());
      await both();
      await receiver.got(2);
      expect(receiver.bodies().map(({ host_id }) => host_id)).toHaveLength(2);
      expect(await t.store.outbox.count(eq("event", "calendar_event"))).toBe(2);
    });
  });
});

describe.each(rulesEngines)("a calendar event on %s", (engine) => {
  it("is created once, also if the server ends before it knows", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    let isCut = true;
    const { answer } = calendar;
    calendar.answer = async (request) => {
      const reply = await answer(request);
      if (request.method !== "POST" || request.url.pathname === "/token" || !isCut) return reply;
      isCut = false;
      request.socket.destroy();
      return null;
    };
    await run();
    expect(calendar.own(ANN)).toHaveLength(1);
    expect(await t.store.calendarEvents.list()).toMatchObject([{ state: "new", failures: 1 }]);
    t.clock.advance(minutes(6));
    await run();
    expect(calendar.own(ANN)).toHaveLength(1);
    expect(await t.store.calendarEvents.list()).toMatchObject([
      { state: "planned", starts_at: "2026-03-03T08:00:00.000Z", failures: 0 },
    ]);
  });

  it("follows the user who moves it, and comes back on another day if the user deletes it", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    await run();
    const [event] = calendar.own(ANN);
    event!.start = { dateTime: "2026-03-05T14:00:00+01:00" };
    event!.end = { dateTime: "2026-03-05T14:30:00+01:00" };
    t.clock.advance(Date.parse("2026-03-03T08:05:00Z") - t.clock.now());
    await run();
    expect(await t.store.outbox.count(), "it does not begin at its old time").toBe(0);
    expect(await t.store.calendarEvents.list()).toMatchObject([{ starts_at: "2026-03-05T13:00:00.000Z" }]);
    event!.status = "cancelled";
    t.clock.advance(minutes(31));
    await run();
    await run();
    expect(calendar.own(ANN).map(({ status, start: { dateTime } }) => [status, dateTime])).toEqual([
      ["cancelled", "2026-03-05T14:00:00+01:00"],
      ["confirmed", "2026-03-04T08:00:00.000Z"],
    ]);
  });

  it("that passes while no server runs is planned again, without a webhook", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    await run();
    t.clock.advance(Date.parse("2026-03-03T12:00:00Z") - t.clock.now());
    await run();
    await run();
    expect(await t.store.outbox.count()).toBe(0);
    expect(calendar.own(ANN).at(-1)!.start.dateTime).toBe("2026-03-04T08:00:00.000Z");
  });

  it("names the policies that the host fails now", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    const other = await makePolicy(t, { team_id: teamId, name: "Firewall on", calendar_events_enabled: true });
    const host = await failingHost(t, teamId, [policy]);
    await run();
    expect(calendar.own(ANN)[0]!.description).not.toContain("Firewall on");
    await makeResults(t, host.id, { failing: [policy, other] });
    await run();
    const [event, ...more] = calendar.own(ANN);
    expect([event!.description, more]).toEqual([expect.stringContaining("Firewall on"), []]);
    const calls = calendar.requests.length;
    await run();
    expect(calendar.requests.length, "nothing has changed").toBe(calls);
  });

  it("is only for users of the domain, for policies and teams that want it, and for hosts that fail", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    const without = await makePolicy(t, { team_id: teamId });
    const global = await makePolicy(t, { calendar_events_enabled: true });
    const { team } = (await (await t.post("/teams", { name: "Others" })).json()) as { team: { id: number } };
    const elsewhere = await makePolicy(t, { team_id: team.id, calendar_events_enabled: true });
    await failingHost(t, teamId, [policy], "ann@elsewhere.example.org");
    await failingHost(t, teamId, [policy], null);
    await failingHost(t, teamId, [without, global]);
    await failingHost(t, team.id, [elsewhere]);
    const passes = await makeHost(t, { team_id: teamId });
    await makeResults(t, passes.id, { passing: [policy] });
    await run();
    expect([await t.store.calendarEvents.count(), calendar.requests.length]).toEqual([0, 0]);
  });

  it("is in the calendar of the account that has signed in, and moves to that of another user", async () => {
    const calendar = await startCalendar(ANN, BOB);
    const { t, teamId, policy, run } = await start(engine, calendar);
    const host = await failingHost(t, teamId, [policy]);
    await t.store.hostEmails.insert({ host_id: host.id, email: "Bob@Example.com", source: "mdm_idp_accounts" });
    await run();
    expect([calendar.own(ANN).length, calendar.own(BOB).length]).toEqual([0, 1]);
    await t.store.hostEmails.delete(eq("source", "mdm_idp_accounts"));
    await run();
    await run();
    expect([calendar.own(ANN).length, calendar.own(BOB)[0]!.status]).toEqual([1, "cancelled"]);
  });

  it("waits as long as the calendar asks for, and leaves other users alone then", async () => {
    const calendar = await startCalendar(ANN, BOB);
    const { t, teamId, policy, run } = await start(engine, calendar);
    for (let at = 0; at < 20; at++) await failingHost(t, teamId, [policy], at % 2 === 0 ? ANN : BOB);
    calendar.fault = () => calendarError(429, "rateLimitExceeded", { "retry-after": "3600" });
    await run();
    expect(calendar.requests.length, "no more than are sent at once").toBeLessThanOrEqual(8);
    const held = (await t.store.calendarEvents.list()).filter(({ failures }) => failures > 0);
    expect(held.length).toBeGreaterThan(0);
    for (const { check_at } of held) expect(Date.parse(check_at) - t.clock.now()).toBe(hours(1));
    calendar.fault = () => null;
    t.clock.advance(minutes(5));
    await run();
    expect(calendar.own(ANN).length + calendar.own(BOB).length).toBe(20 - held.length);
    t.clock.advance(hours(1));
    await run();
    expect(calendar.own(ANN).length + calendar.own(BOB).length).toBe(20);
  });

  it("that cannot be created is reported once for each reason, and tried again, later each time", async () => {
    const calendar = await startCalendar();
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    const waits: number[] = [];
    for (let at = 0; at < 12; at++) {
      await run();
      const [row] = await t.store.calendarEvents.list();
      waits.push((Date.parse(row!.check_at) - t.clock.now()) / minutes(1));
      t.clock.advance(Date.parse(row!.check_at) - t.clock.now());
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440, 1440]);
    const failed = {
      policy_id: policy.id,
      policy_name: policy.name,
      status_code: 400,
      error_response: expect.stringContaining("invalid_grant"),
    };
    expect(await t.store.policyRuns.count(eq("status", "error"))).toBe(1);
    expect(await activities(t, "failed_automation_calendar_event")).toEqual([failed]);
    expect(JSON.stringify(await t.store.calendarEvents.list())).not.toContain("User ID");
    calendar.calendars.set(ANN, []);
    calendar.fault = ({ method, url }) =>
      method === "POST" && url.pathname.startsWith("/v3/") ? { status: 500, body: "inner" } : null;
    await run();
    const [, second] = await activities(t, "failed_automation_calendar_event");
    expect(second).toMatchObject({ status_code: 500 });
    calendar.fault = () => null;
    t.clock.advance(hours(2));
    await run();
    expect(calendar.own(ANN)).toHaveLength(1);
  });

  it("fails with an unusable key of the integration, which appears nowhere", async () => {
    const calendar = await startCalendar(ANN);
    calendar.integration.api_key_json.private_key = "no-key-at-all";
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    await run();
    const [failed] = await activities(t, "failed_automation_calendar_event");
    expect(failed).toEqual({
      policy_id: policy.id,
      policy_name: policy.name,
      error_response: expect.stringContaining("private_key"),
    });
    expect(JSON.stringify(failed)).not.toContain("no-key-at-all");
  });

  it("asks for a new token when the calendar no longer accepts the old one", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    let refused = 0;
    calendar.fault = ({ url }, user) =>
      user !== "" && refused++ === 0 && url ? calendarError(401, "authError") : null;
    await run();
    expect([calendar.own(ANN).length, calendar.tokens]).toEqual([1, 2]);
  });

  it("avoids all pages of other events, but not those that do not block time", async () => {
    const calendar = await startCalendar(ANN);
    const { t, teamId, policy, run } = await start(engine, calendar);
    await failingHost(t, teamId, [policy]);
    const events = calendar.calendars.get(ANN)!;
    const at = (hour: number, more: object) =>
      events.push({
        id: `other-${events.length}`,
        status: "confirmed",
        start: { dateTime: `2026-03-03T${String(hour).padStart(2, "0")}:00:00+01:00` },
        end: { dateTime: `2026-03-03T${String(hour + 1).padStart(2, "0")}:00:00+01:00` },
        ...more,
      });
    calendar.pageSize = 2;
    for (const hour of [9, 10, 11]) at(hour, {});
    at(12, { transparency: "transparent" });
    at(12, { attendees: [{ self: true, responseStatus: "declined" }] });
    events.push({ id: "day", status: "confirmed", start: { date: "2026-03-02" }, end: { date: "2026-03-03" } });
    await run();
    expect(calendar.own(ANN)[0]!.start.dateTime).toBe("2026-03-03T11:00:00.000Z");
  });
});
