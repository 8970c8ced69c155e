import { describe, expect, it } from "vitest";
import type { Query } from "../../src/api/checks/queries.ts";
import type { ScheduledEntry } from "../../src/api/checks/schedule.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeTeam, makeUser } from "../support/make.ts";
import { json } from "../support/replies.ts";

const SQL = "SELECT * FROM users";
async function made(t: TestApp, name: string, more: object = {}): Promise<Query> {
  const res = await t.post("/queries", { name, query: SQL, ...more });
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { query: Query }).query;
}

describe.each(rulesEngines)("the deprecated schedule on %s", (engine) => {
  it("schedules a copy of a query; the entry is that copy", async () => {
    const t = await startApp({ engine });
    const query = await made(t, "users", { description: "d", platform: "linux" });
    const body = {
      query_id: query.id,
      interval: 600,
      snapshot: true,
      removed: false,
      platform: "darwin",
      version: "5.1.0",
    };
    const { scheduled } = (await json(t.post("/global/schedule", { ...body, shard: 10 }))) as {
      scheduled: ScheduledEntry;
    };
    const unixSeconds = t.clock.now() / 1000;
    expect(scheduled).toMatchObject({
      pack_id: null,
      name: `Copy of users (${unixSeconds})`,
      query_name: `Copy of users (${unixSeconds})`,
      query: SQL,
      description: "d",
      interval: 600,
      snapshot: true,
      removed: false,
      platform: "darwin",
      version: "5.1.0",
      shard: 10,
      denylist: true,
    });
    expect(scheduled.query_id).toBe(scheduled.id);
    expect(scheduled.id).not.toBe(query.id);
    expect(await json(t.get(`/queries/${scheduled.id}`))).toMatchObject({
      query: { name: scheduled.name, interval: 600, automations_enabled: true, logging: "snapshot", team_id: null },
    });
    expect(await json(t.get("/global/schedule"))).toEqual({ global_schedule: [scheduled] });
    for (const version of ["v1", "2022-04", "latest"])
      for (const path of ["schedule", "global/schedule"])
        expect(await json(t.get(`/api/${version}/svc/${path}`)), `${version} ${path}`).toEqual({
          global_schedule: [scheduled],
        });
  });

  it("maps snapshot and removed to the logging of the query", async () => {
    const t = await startApp({ engine });
    const query = await made(t, "users");
    const cases: [object, string][] = [
      [{}, "snapshot"],
      [{ snapshot: true, removed: true }, "snapshot"],
      [{ snapshot: false, removed: true }, "differential"],
      [{ snapshot: false, removed: false }, "differential_ignore_removals"],
      [{ removed: false }, "differential_ignore_removals"],
    ];
    for (const [more, logging] of cases) {
      t.clock.advance(1000);
      const reply = await json(t.post("/global/schedule", { query_id: query.id, interval: 60, ...more }));
      const { id } = (reply as { scheduled: ScheduledEntry }).scheduled;
      expect(await json(t.get(`/queries/${id}`)), JSON.stringify(more)).toMatchObject({ query: { logging } });
      const back = await json(t.patch(`/global/schedule/${id}`, { interval: 61, snapshot: true }));
      expect(back).toMatchObject({ scheduled: { id, interval: 61, snapshot: true } });
    }
  });

  it("refuses queries that cannot be scheduled", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const own = await made(t, "own", { team_id: team.id, interval: 60 });
    const idle = await made(t, "idle");
    const status = async (res: Promise<Response>) => (await res).status;
    expect(await status(t.post("/global/schedule", { query_id: own.id, interval: 60 }))).toBe(400);
    expect(await status(t.post("/global/schedule", { query_id: 999, interval: 60 }))).toBe(404);
    expect(await status(t.post("/global/schedule", { query_id: idle.id }))).toBe(422);
    for (const shard of [0, 101, 1.5])
      expect(await status(t.post("/global/schedule", { query_id: idle.id, interval: 60, shard }))).toBe(422);
    expect(await status(t.post("/global/schedule", { query_id: idle.id, interval: 60, platform: "beos" }))).toBe(400);
    // Ids of another schedule, or of none.
    for (const id of [own.id, idle.id, 999]) {
      expect(await status(t.patch(`/global/schedule/${id}`, { interval: 5 })), String(id)).toBe(404);
      expect(await status(t.delete(`/global/schedule/${id}`)), String(id)).toBe(404);
    }
    expect(await t.store.queries.count()).toBe(2);
  });

  it("of a team contains the team's own queries; a change returns nothing, a delete deletes the query", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const query = await made(t, "users");
    const { scheduled } = (await json(t.post(`/teams/${team.id}/schedule`, { query_id: query.id, interval: 60 }))) as {
      scheduled: ScheduledEntry;
    };
    expect(await json(t.get(`/team/${team.id}/schedule`))).toEqual({ scheduled: [scheduled] });
    expect(await json(t.get("/global/schedule"))).toEqual({ global_schedule: [] });
    expect(await json(t.patch(`/teams/${team.id}/schedule/${scheduled.id}`, { interval: 90, shard: 5 }))).toEqual({});
    expect(await json(t.get(`/teams/${team.id}/schedule`))).toMatchObject({ scheduled: [{ interval: 90, shard: 5 }] });
    const other = await makeTeam(t);
    expect((await t.delete(`/teams/${other.id}/schedule/${scheduled.id}`)).status).toBe(404);
    expect((await t.get("/teams/999/schedule")).status).toBe(404);
    expect(await json(t.delete(`/team/${team.id}/schedule/${scheduled.id}`))).toEqual({});
    expect((await t.get(`/queries/${scheduled.id}`)).status).toBe(404);
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await maintainer.post(`/teams/${team.id}/schedule`, { query_id: query.id, interval: 60 })).status).toBe(
      200,
    );
    expect((await maintainer.post(`/teams/${other.id}/schedule`, { query_id: query.id, interval: 60 })).status).toBe(
      404,
    );
    expect((await maintainer.post("/global/schedule", { query_id: query.id, interval: 60 })).status).toBe(403);
  });
});
