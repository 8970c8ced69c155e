import { describe, expect, it } from "vitest";
import type { Job as JobInfo } from "../../../src/api/platform/jobs.ts";
import { triggers } from "../../../src/server/edge/jobs/requests.ts";
import { runSchedule } from "../../../src/server/edge/jobs/schedule.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import type { Job } from "../../../src/server/platform/core/job.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam, makeUser } from "../../support/make.ts";

const jobs = async (t: Pick<TestApp, "get">) => {
  const res = await t.get("/jobs");
  expect(res.status).toBe(200);
  return ((await res.json()) as { jobs: JobInfo[] }).jobs;
};
const one = async (t: Pick<TestApp, "get">, name: string) => (await jobs(t)).find((job) => job.name === name)!;

async function settled(t: Pick<TestApp, "get">, names: readonly string[]): Promise<JobInfo[]> {
  let those: JobInfo[] = [];
  const stillRunning = async () => {
    those = (await jobs(t)).filter(({ name }) => names.includes(name));
    return those.filter(({ running, started_at }) => running || started_at === null).map(({ name }) => name);
  };
  await expect.poll(stillRunning).toEqual([]);
  return those;
}

describe.each(bothEngines)("requested jobs on %s", (engine) => {
  it("run immediately, and the list shows their result", async () => {
    const t = await startApp({ engine });
    expect(await one(t, "session_cleanup")).toMatchObject({ started_at: null, finished_at: null, running: false });
    const person = await makeUser(t, "observer");
    const robot = await makeUser(t, "admin", { api_only: true });
    t.clock.advance(days(6));
    const res = await robot.request("POST", "/trigger?name=session_cleanup");
    expect(res.status).toBe(200);
    expect(await res.json()).toEqual({});
    const [job] = await settled(robot, ["session_cleanup"]);
    expect(job).toMatchObject({
      started_at: t.clock.iso(),
      finished_at: t.clock.iso(),
      error: null,
      groups: ["cleanups_then_aggregation"],
    });
    expect(await t.store.sessions.count(eq("user_id", person.id))).toBe(0);
    expect((await robot.request("POST", "/trigger?name=session_cleanup")).status).toBe(200);
  });

  it.each([
    "vendora_mdm_dep_profile_assigner",
    "automations",
    "cleanups_then_aggregation",
    "integrations",
    "mdm_vendora_profile_manager",
    "usage_statistics",
    "vulnerabilities",
    "dep_sync",
    "apns_push",
    "profiles",
    "vpp_sync",
    "android_sync",
    "directory_sync",
    "software_counts",
    "setup_experience",
  ])("have every documented name: %s", (name) => {
    expect(triggers().get(name)?.length).toBeGreaterThan(0);
  });

  it("have names of groups too, each for several jobs", async () => {
    const t = await startApp({ engine });
    expect((await t.post("/trigger?name=cleanups_then_aggregation")).status).toBe(200);
    const members = triggers()
      .get("cleanups_then_aggregation")!
      .map(({ name }) => name);
    expect(members).toContain("counts");
    expect(members.indexOf("host_expiry")).toBeLessThan(members.indexOf("counts"));
    for (const job of await settled(t, members)) expect(job.error, job.name).toBeNull();
  });

  it("return 404 for an unknown name, and 400 without one", async () => {
    const t = await startApp({ engine });
    for (const name of ["nothing", "usage_statistics_", "__proto__", "constructor", "a".repeat(200)]) {
      const res = await t.post(`/trigger?name=${name}`);
      expect(res.status, name).toBe(404);
      expect(await res.json()).toMatchObject({
        errors: [{ name: "base", reason: `job ${name} was not found in the datastore` }],
      });
    }
    const res = await t.post("/trigger");
    expect(res.status).toBe(400);
    expect(await res.json()).toMatchObject({ errors: [{ name: "name", reason: "Param name is required" }] });
  });

  it("return 409 while they run or are about to, on any server", async () => {
    const t = await startApp({ engine });
    const now = t.clock.iso();
    const running = { started_at: now, finished_at: null, error: null };
    await t.store.jobRuns.upsert([{ name: "counts", ...running }], { on: ["name"] });
    for (const name of ["counts", "cleanups_then_aggregation"]) {
      const res = await t.post(`/trigger?name=${name}`);
      expect(res.status, name).toBe(409);
      expect(await res.json()).toMatchObject({
        message: "Conflict",
        errors: [{ name: "base", reason: expect.stringContaining("job counts is already running since") }],
      });
    }
    expect(await t.store.jobRuns.count(eq("requested_at", now))).toBe(0);
    await t.store.jobRuns.update({ where: eq("name", "counts"), set: { finished_at: now } });
    expect((await t.post("/trigger?name=counts")).status).toBe(200);
    const both = await Promise.all([t.post("/trigger?name=query_stats"), t.post("/trigger?name=query_stats")]);
    // The first may have finished before the second is requested.
    expect([200, 409]).toContain(both[1]!.status);
    await settled(t, ["counts", "query_stats"]);
  });

  it("are stored until a server runs them, and fail without stopping the others", async () => {
    const t = await startApp({ engine });
    const ran: string[] = [];
    const make = (name: string, after: readonly string[] = [], fails = false): Job => ({
      name,
      every: 1000,
      after,
      run: async () => {
        // Others would overtake it if they did not wait.
        await new Promise((resolve) => setTimeout(resolve, 20));
        ran.push(name);
        if (fails) throw new Error("no luck");
      },
    });
    const list = [make("third", ["first", "second"]), make("second", ["first"], true), make("first")];
    await t.store.jobRuns.insertMany(
      ["third", "second", "first"].map((name) => ({ name, started_at: null, requested_at: t.clock.iso() })),
    );
    const stop = new AbortController();
    const running = runSchedule(t.services, list, stop.signal);
    await expect.poll(() => ran.length).toBe(3);
    stop.abort();
    await running;
    expect(ran).toEqual(["first", "second", "third"]);
    expect(await t.store.jobRuns.first({ where: eq("name", "second") })).toMatchObject({
      error: "no luck",
      requested_at: null,
    });
  });

  it("require a global admin", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const callers = [await makeUser(t, { teams: [{ id: team.id, role: "admin" }] })];
    for (const role of ["maintainer", "observer", "observer_plus", "gitops", "technician"] as const)
      callers.push(await makeUser(t, role));
    for (const caller of callers) {
      expect((await caller.get("/jobs")).status).toBe(403);
      expect((await caller.post("/trigger?name=counts")).status).toBe(403);
    }
    expect(await one(t, "counts")).toMatchObject({ running: false, started_at: null });
  });
});
