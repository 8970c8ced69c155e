import { describe, expect, it } from "vitest";
import { createPlaces } from "../../../src/server/edge/jobs/places.ts";
import { AlreadyRunning, carryOut, runDue, runSchedule } from "../../../src/server/edge/jobs/schedule.ts";
import { runJob, startJobs } from "../../../src/server/edge/jobs/start.ts";
import { ALL_HOSTS } from "../../../src/server/hosts/count-changes/tables.ts";
import { deleteManyHosts } from "../../../src/server/inventory/host-list/delete.ts";
import { days, hours, isoAt, minutes } from "../../../src/server/platform/core/clock.ts";
import {
  backgroundIdle,
  inBackground,
  stopBackground,
} from "../../../src/server/platform/core/concurrency/background.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import type { Job } from "../../../src/server/platform/core/job.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { and, eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { hostRow, makeHost, makeInventory, makeSession, makeSoftware, makeTeam, makeUser } from "../../support/make.ts";

const idle = new AbortController().signal;
const daysAgo = (t: TestApp, n: number) => isoAt(t.clock.now() - days(n));

describe.each(bothEngines)("jobs on %s", (engine) => {
  it("start as often as their configured period says, also if that is shorter than the usual look", async () => {
    const t = await startApp({ engine });
    let runs = 0;
    const job: Job = {
      name: "often",
      every: minutes(1),
      period: async () => 1000,
      run: async () => {
        runs++;
        t.clock.advance(1000);
      },
    };
    const stopping = new AbortController();
    const services = { ...t.services, random: { ...t.services.random, int: () => 0 } };
    const running = runSchedule(services, [job], stopping.signal);
    const started = performance.now();
    await expect.poll(() => runs, { timeout: 200_000 }).toBeGreaterThan(3);
    // Without the wake-up, each of the four looks takes 15 s.
    expect(performance.now() - started).toBeLessThan(50_000);
    stopping.abort();
    await running;
  });

  it("delete hosts that were offline for the window of their team, or otherwise the global one", async () => {
    const t = await startApp({ engine });
    const strict = await makeTeam(t);
    const lax = await makeTeam(t);
    const { settings } = strict;
    await t.store.teams.update({
      where: eq("id", strict.id),
      set: { settings: { ...settings, host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 2 } } },
    });
    const host = (name: string, team: number | null, silent: number) =>
      makeHost(
        t,
        { hostname: name, display_name: name, team_id: team, created_at: daysAgo(t, 100) },
        { seen: daysAgo(t, silent) },
      );
    await host("strict, 1 day", strict.id, 1);
    const expired = await host("strict, 2 days", strict.id, 2);
    await host("lax, 9 days", lax.id, 9);
    await host("lax, 11 days", lax.id, 11);
    await host("no team, 11 days", null, 11);
    await makeHost(t, { hostname: "never heard of", created_at: daysAgo(t, 11) });
    await makeHost(t, { hostname: "new" });
    const left = async () => (await t.store.hosts.pick(["hostname"])).map(({ hostname }) => hostname).sort();

    await runJob(t.services, "host_expiry");
    expect(await left()).toHaveLength(6);
    expect(await left()).not.toContain("strict, 2 days");
    const [entry] = await t.store.activities.list({ where: eq("type", "deleted_host") });
    expect(entry).toMatchObject({
      svc_initiated: true,
      actor_id: null,
      details: {
        host_id: expired.id,
        host_display_name: "strict, 2 days",
        triggered_by: "expiration",
        host_expiry_window: 2,
      },
    });

    const patch = { host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 10 } };
    expect((await t.patch("/config", patch)).status).toBe(200);
    await runJob(t.services, "host_expiry");
    expect(await left()).toEqual(["lax, 9 days", "new", "strict, 1 day"]);
  });

  it("keep hosts that device management or the managed agent still sees", async () => {
    const t = await startApp({ engine });
    const patch = { host_expiry_settings: { host_expiry_enabled: true, host_expiry_window: 10 } };
    expect((await t.patch("/config", patch)).status).toBe(200);
    const host = (hostname: string) => makeHost(t, { hostname, created_at: daysAgo(t, 100) }, { seen: daysAgo(t, 40) });
    const managed = await host("device management");
    await t.store.hostMdm.upsert([{ id: managed.id, enrollment_status: "On (manual)", checked_in_at: daysAgo(t, 1) }], {
      on: ["id"],
    });
    const agent = await host("managed agent");
    await t.store.hostContacts.insert({ id: agent.id, contacted_at: daysAgo(t, 1) });
    const both = await host("silent everywhere");
    await t.store.hostMdm.upsert([{ id: both.id, enrollment_status: "On (manual)", checked_in_at: daysAgo(t, 35) }], {
      on: ["id"],
    });
    const { missing_30_days_count, mia_count } = (await (await t.get("/host_summary")).json()) as Record<
      string,
      number
    >;
    expect([missing_30_days_count, mia_count]).toEqual([1, 1]);
    const { hosts } = (await (await t.get("/hosts?status=missing")).json()) as { hosts: { hostname: string }[] };
    expect(hosts.map(({ hostname }) => hostname)).toEqual(["silent everywhere"]);
    await runJob(t.services, "host_expiry");
    const left = (await t.store.hosts.pick(["hostname"])).map(({ hostname }) => hostname).sort();
    expect(left).toEqual(["device management", "managed agent"]);
  });

  it("delete old activities, however many there are", async () => {
    const t = await startApp({ engine });
    const rows = (count: number, age: number) =>
      Array.from({ length: count }, () => ({ created_at: daysAgo(t, age), type: "test", details: null }));
    await t.store.activities.insertMany(rows(10, 300));
    await runJob(t.services, "activity_expiry");
    expect(await t.store.activities.count(eq("type", "test"))).toBe(10);
    const patch = { activity_expiry_settings: { activity_expiry_enabled: true, activity_expiry_window: 7 } };
    expect((await t.patch("/config", patch)).status).toBe(200);
    t.clock.advance(days(9));
    await t.store.activities.insertMany([...rows(4500, 8), ...rows(10, 6)]);
    await runJob(t.services, "activity_expiry");
    expect(await t.store.activities.count()).toBe(10);
  });

  it("delete expired sessions, but not those of API-only users", async () => {
    const t = await startApp({ engine });
    const robot = await makeUser(t, "observer", { api_only: true });
    const person = await makeUser(t, "observer");
    t.clock.advance(days(5) + 1000);
    const fresh = await makeSession(t, person.id);
    await runJob(t.services, "session_cleanup");
    expect(await t.store.sessions.count(eq("user_id", person.id))).toBe(1);
    expect((await t.as(fresh).get("/me")).status).toBe(200);
    expect((await robot.get("/me")).status).toBe(200);
    expect((await person.get("/me")).status).toBe(401);
  });

  it("count hosts of software, titles and systems, and delete those that stay unused", async () => {
    const t = await startApp({ engine });
    const os = await t.store.osVersions.insert({ name: "Ubuntu", version: "24.04", platform: "ubuntu" });
    const unusedOs = await t.store.osVersions.insert({ name: "Ubuntu", version: "12.04", platform: "ubuntu" });
    const a = await makeHost(t, { os_version_id: os.id });
    const b = await makeHost(t, { os_version_id: os.id });
    const one = await makeSoftware(t, "Figma", "1.2");
    const two = await makeSoftware(t, "Figma", "1.3");
    const orphan = await makeSoftware(t, "Netscape", "4");
    await makeInventory(t, a.id, [one, two]);
    await makeInventory(t, b.id, [one]);
    const versionHosts = async (id: number) =>
      (await t.store.softwareVersionCounts.first({ where: and(eq("software_id", id), eq("scope", ALL_HOSTS)) }))
        ?.hosts_count;
    const ofTitle = (id: number) =>
      t.store.softwareTitleCounts.first({ where: and(eq("title_id", id), eq("scope", ALL_HOSTS)) });
    await runJob(t.services, "counts");
    expect([await versionHosts(one.id), await versionHosts(two.id)]).toEqual([2, 1]);
    expect(await ofTitle(one.title_id)).toMatchObject({ hosts_count: 2, versions_count: 2 });
    expect(await t.store.osVersions.get(os.id)).toMatchObject({ hosts_count: 2 });
    t.clock.advance(minutes(30) - 1);
    await runJob(t.services, "counts");
    expect(await t.store.software.get(orphan.id)).not.toBeNull();
    t.clock.advance(1);
    // Another server runs the job: what the first one has found is in the store.
    await runJob(withRunning({ ...t.services }), "counts");
    expect(await t.store.software.get(orphan.id)).toBeNull();
    expect(await t.store.osVersions.get(unusedOs.id)).toBeNull();
    // The title lost its last version in the previous run.
    t.clock.advance(minutes(30));
    await runJob(t.services, "counts");
    expect(await t.store.softwareTitles.get(orphan.title_id)).toBeNull();
    await t.delete(`/hosts/${a.id}`);
    await runJob(t.services, "counts");
    expect(await versionHosts(two.id)).toBeUndefined();
    expect(await ofTitle(one.title_id)).toMatchObject({ hosts_count: 1, versions_count: 1 });
    expect(await t.store.osVersions.get(os.id)).toMatchObject({ hosts_count: 1 });
  });

  it("request a host's inventory again if it refers to missing software", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await makeHost(t), await makeHost(t)];
    const [kept, lost] = [await makeSoftware(t, "Figma", "1.2"), await makeSoftware(t, "Figma", "1.3")];
    await makeInventory(t, a.id, [kept, lost]);
    await makeInventory(t, b.id, [kept]);
    await t.store.hostSoftware.update({ where: { op: "all" }, set: { fingerprint: "known" } });
    await t.store.software.delete(eq("id", lost.id));
    await runJob(t.services, "counts");
    expect((await t.store.hostSoftware.get(a.id))?.fingerprint).toBe("");
    expect((await t.store.hostSoftware.get(b.id))?.fingerprint).toBe("known");
  });

  it("start when due, are recorded, and are repeated after a failure", async () => {
    const t = await startApp({ engine });
    let runs = 0;
    let fails = false;
    const job: Job = {
      name: "testing",
      every: hours(1),
      run: async () => {
        runs++;
        if (fails) throw new Error("no luck");
      },
    };
    const look = () => runDue(t.services, [job], idle);
    const record = () => t.store.jobRuns.first({ where: eq("name", "testing") });
    await look();
    await look();
    expect(runs).toBe(1);
    expect(await record()).toMatchObject({ started_at: t.clock.iso(), finished_at: t.clock.iso(), error: null });
    t.clock.advance(hours(1));
    fails = true;
    await look();
    await look();
    expect(runs).toBe(2);
    expect(await record()).toMatchObject({ error: "no luck" });
    t.clock.advance(minutes(5));
    fails = false;
    await look();
    expect(runs).toBe(3);
    expect(await record()).toMatchObject({ error: null });
    t.clock.advance(hours(1) - 1);
    await look();
    expect(runs).toBe(3);
    t.clock.advance(1);
    await look();
    expect(runs).toBe(4);
  });

  it("do not run twice at the same time, and an interrupted one is due immediately", async () => {
    const t = await startApp({ engine });
    const stop = new AbortController();
    let entered = () => {};
    const started = new Promise<void>((resolve) => {
      entered = resolve;
    });
    let runs = 0;
    const job: Job = {
      name: "long",
      every: hours(1),
      run: (_services, signal) =>
        new Promise((resolve) => {
          runs++;
          signal.addEventListener("abort", () => resolve());
          entered();
        }),
    };
    const first = carryOut(t.services, job, stop.signal);
    await started;
    await expect(carryOut(t.services, job, idle)).rejects.toThrow(AlreadyRunning);
    await runDue(t.services, [job], idle);
    expect(runs).toBe(1);
    stop.abort();
    await first;
    const end = new AbortController();
    const second = runDue(t.services, [job], end.signal);
    await expect.poll(() => runs).toBe(2);
    end.abort();
    await second;
  });

  it("are taken over from a server that has died, when its lease has expired", async () => {
    const t = await startApp({ engine });
    let runs = 0;
    const job: Job = { name: "taken", every: hours(1), run: async () => void runs++ };
    const started_at = t.clock.iso();
    const lease = { runner: "the dead one", runner_until: isoAt(t.clock.now() + minutes(1)) };
    await t.store.jobRuns.insert({
      name: "taken",
      started_at,
      finished_at: null,
      error: null,
      requested_at: null,
      ...lease,
    });
    await runDue(t.services, [job], idle);
    t.clock.advance(minutes(1) - 1);
    await runDue(t.services, [job], idle);
    expect(runs).toBe(0);
    t.clock.advance(1);
    await runDue(t.services, [job], idle);
    expect(runs).toBe(1);
  });

  it("start when due although the clock was ahead at their last start, and its server died", async () => {
    const t = await startApp({ engine });
    let runs = 0;
    const job: Job = { name: "ahead", every: hours(1), run: async () => void runs++ };
    const look = () => runDue(t.services, [job], idle);
    t.clock.advance(days(3650));
    await look();
    await t.store.jobRuns.update({
      where: eq("name", "ahead"),
      set: { runner: "the dead one", runner_until: isoAt(t.clock.now() + minutes(1)) },
    });
    t.clock.advance(-days(3650));
    await look();
    expect(runs).toBe(2);
    await look();
    expect(runs).toBe(2);
    t.clock.advance(hours(1));
    await look();
    expect(runs).toBe(3);
  });

  it("run side by side: a long one delays no other", async () => {
    const t = await startApp({ engine });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const ran: string[] = [];
    const make = (name: string, run: () => Promise<unknown> = async () => {}): Job => ({
      name,
      every: hours(1),
      run: async () => {
        await run();
        ran.push(name);
      },
    });
    const list = [make("long", () => ended), make("short"), make("other")];
    const looking = runDue(t.services, list, idle);
    await expect.poll(() => [...ran].sort()).toEqual(["other", "short"]);
    t.clock.advance(hours(1));
    // The long one is still running: its lease is renewed, and its row tells the other servers.
    await t.store.jobRuns.update({
      where: eq("name", "long"),
      set: { runner_until: isoAt(t.clock.now() + minutes(1)) },
    });
    await runDue(t.services, list, idle);
    expect([...ran].sort()).toEqual(["other", "other", "short", "short"]);
    end();
    await looking;
    expect(ran.filter((name) => name === "long")).toHaveLength(1);
  });

  it("run once however many servers find them due", async () => {
    const t = await startApp({ engine });
    let runs = 0;
    const job: Job = { name: "once", every: hours(1), run: async () => void runs++ };
    await Promise.all(Array.from({ length: 8 }, () => runDue(t.services, [job], idle)));
    expect(runs).toBe(1);
  });

  it("lets a long bulk delete continue after its reply", async () => {
    const t = await startApp({ engine });
    const now = t.clock.iso();
    await t.store.hosts.insertMany(Array.from({ length: 350 }, () => hostRow(now)));
    const reply = await deleteManyHosts(serviceContext(t.services), { filters: {} }, 0);
    expect(reply).toEqual({ outcome: "goes on", taskId: expect.any(Number) });
    await backgroundIdle(t.services);
    expect(await t.store.hosts.count()).toBe(0);
    expect(await t.store.activities.count(eq("type", "deleted_host"))).toBe(350);
  });
});

describe("places of jobs", () => {
  function running() {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string) => async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    };
    return { begun, work, end: (name: string) => ends.get(name)!() };
  }

  it("let only so many run side by side, the others in their order", async () => {
    const { begun, work, end } = running();
    const places = createPlaces(2, minutes(1));
    const all = ["a", "b", "c", "d"].map((name) => places.use(name, work(name)));
    await expect.poll(() => begun).toEqual(["a", "b"]);
    expect(["a", "d", "e"].map(places.has)).toEqual([true, true, false]);
    end("b");
    await expect.poll(() => begun).toEqual(["a", "b", "c"]);
    end("a");
    await expect.poll(() => begun).toEqual(["a", "b", "c", "d"]);
    end("c");
    end("d");
    await Promise.all(all);
    expect(places.has("a")).toBe(false);
  });

  it("are given up by jobs that take long", async () => {
    const { begun, work, end } = running();
    const places = createPlaces(1, 1);
    const all = ["long", "longer", "short"].map((name) => places.use(name, work(name)));
    await expect.poll(() => begun).toEqual(["long", "longer", "short"]);
    for (const name of ["long", "longer", "short"]) end(name);
    await Promise.all(all);
  });

  it("are free again after a failure", async () => {
    const places = createPlaces(1, minutes(1));
    await expect(places.use("fails", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await places.use("next", async () => {});
  });
});

it("notifies background work to stop, and waits for it", async () => {
  const t = await startApp();
  const seen: string[] = [];
  inBackground(t.services, "test", async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    seen.push("stopped");
  });
  await stopBackground(t.services);
  expect(seen).toEqual(["stopped"]);
});

it("stops without waiting for the next interval", async () => {
  const t = await startApp();
  const jobs = await startJobs({ ...t.services, store: t.store });
  const started = performance.now();
  await jobs.stop();
  // The next look is 15 seconds later.
  expect(performance.now() - started).toBeLessThan(12_000);
});
