// A host's own activities, past and upcoming, and which roles see them.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Role } from "../../src/api/access.ts";
import type { UpcomingActivity } from "../../src/api/hosts/host-activities.ts";
import type { Activity } from "../../src/api/platform/activities.ts";
import type { operations } from "../../src/server/hosts/operations/tables.ts";
import type { InsertOf } from "../../src/server/platform/store/table.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { type HostRow, makeHost, makeOperation, makeTeam, makeUser } from "../support/make.ts";

interface Page<T> {
  activities: T[];
  count?: number;
  meta: { has_next_results: boolean; has_previous_results: boolean };
}

describe.each(rulesEngines)("activities of a host on %s", (engine) => {
  let t: TestApp;
  let host: HostRow;
  let runs = 0;

  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
  });
  afterAll(() => t.close());
  beforeEach(async () => {
    host = await makeHost(t);
  });

  const past = (id: number, details: Record<string, unknown> = {}) =>
    t.store.activities.insert({
      created_at: t.clock.iso(),
      type: "locked_host",
      actor_full_name: "Ada Admin",
      actor_email: "ada@example.com",
      details: { host_id: id, ...details },
      host_id: id,
    });
  const run = (more: Partial<InsertOf<typeof operations>> = {}) =>
    makeOperation(t, host.id, { uuid: `execution-${++runs}`, ...more });
  const list = async (query = "", id = host.id) =>
    (await (await t.get(`/hosts/${id}/activities${query}`)).json()) as Page<Activity>;
  const upcoming = async (query = "", id = host.id) =>
    (await (await t.get(`/hosts/${id}/activities/upcoming${query}`)).json()) as Page<UpcomingActivity>;
  const cancel = (uuid: string, id = host.id) => t.delete(`/hosts/${id}/activities/upcoming/${uuid}`);
  const errors = async (response: Response) => ((await response.json()) as { errors: unknown[] }).errors;

  it("lists only activities of this host, newest first, page by page", async () => {
    const other = await makeHost(t);
    const mine: number[] = [];
    for (const n of [1, 2, 3]) {
      mine.unshift((await past(host.id, { n })).id);
      await past(other.id, { n });
    }
    await t.store.activities.insert({ created_at: t.clock.iso(), type: "created_team", details: {} });
    const { activities, meta } = await list();
    expect(activities.map(({ id }) => id)).toEqual(mine);
    expect(activities[0]).toEqual({
      id: mine[0],
      created_at: t.clock.iso(),
      type: "locked_host",
      svc_initiated: false,
      actor_full_name: "Ada Admin",
      actor_email: "ada@example.com",
      details: { host_id: host.id, n: 3 },
    });
    expect(meta).toEqual({ has_next_results: false, has_previous_results: false });
    const second = await list("?page=1&per_page=2");
    expect(second.activities.map(({ id }) => id)).toEqual(mine.slice(2));
    expect(second.meta).toEqual({ has_next_results: false, has_previous_results: true });
    expect((await list("?per_page=1")).meta.has_next_results).toBe(true);
  });

  it("is empty for a host without activities, and 404 without a host", async () => {
    expect(await list()).toEqual({ activities: [], meta: { has_next_results: false, has_previous_results: false } });
    expect(await upcoming()).toEqual({
      count: 0,
      activities: [],
      meta: { has_next_results: false, has_previous_results: false },
    });
    for (const path of ["", "/upcoming"]) expect((await t.get(`/hosts/999999/activities${path}`)).status).toBe(404);
    expect((await cancel("x", 999_999)).status).toBe(404);
    for (const bad of ["page=-1", "per_page=0", "per_page=x"])
      for (const path of ["", "/upcoming"]) {
        const response = await t.get(`/hosts/${host.id}/activities${path}?${bad}`);
        expect(response.status, bad).toBe(400);
        expect(await errors(response)).toMatchObject([{ name: bad.split("=")[0] }]);
      }
    expect((await t.get("/hosts/x/activities")).status).toBe(400);
  });

  it("lists upcoming ones with a uuid instead of an id, and their number", async () => {
    const me = (await t.store.users.first({}))!;
    const first = await run({ user_id: me.id });
    await run({ state: "answered" });
    await run({ host_id: (await makeHost(t)).id });
    const second = await run();
    const { count, activities } = await upcoming();
    expect(count).toBe(2);
    expect(activities.map(({ uuid }) => uuid)).toEqual([first.uuid, second.uuid]);
    expect(activities[0]).toMatchObject({
      uuid: first.uuid,
      type: "ran_script",
      actor_id: me.id,
      actor_full_name: me.name,
      svc_initiated: false,
      details: { host_id: host.id, host_display_name: host.display_name, script_execution_id: first.uuid },
    });
    expect(activities[0]).not.toHaveProperty("id");
    expect(activities[1]).toMatchObject({ svc_initiated: true });
    expect(activities[1]).not.toHaveProperty("actor_id");
    const paged = await upcoming("?page=1&per_page=1");
    expect(paged).toMatchObject({ count: 2, meta: { has_next_results: false, has_previous_results: true } });
    expect(paged.activities.map(({ uuid }) => uuid)).toEqual([second.uuid]);
  });

  it("cancels an activity that has not started, once, and records it", async () => {
    const { uuid } = await run();
    const response = await cancel(uuid);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect((await upcoming()).count).toBe(0);
    expect((await list()).activities).toMatchObject([
      { type: "canceled_run_script", details: { host_id: host.id, host_display_name: host.display_name } },
    ]);
    const again = await cancel(uuid);
    expect(again.status).toBe(404);
    expect((await list()).activities).toHaveLength(1);
  });

  it("cancels only on the right host", async () => {
    const { uuid } = await run();
    const other = await makeHost(t);
    expect((await cancel(uuid, other.id)).status).toBe(404);
    expect((await cancel("nothing")).status).toBe(404);
    expect((await upcoming()).count).toBe(1);
  });

  it.each(["lock", "wipe"] as const)("cancels a %s that is pending, but not one that has started", async (kind) => {
    const waiting = await run({ kind });
    await t.store.hostActions.upsert([{ id: host.id, pending: kind, reference: waiting.uuid }], { on: ["id"] });
    expect((await cancel(waiting.uuid)).status).toBe(204);
    expect(await t.store.hostActions.get(host.id)).toMatchObject({ pending: "" });
    const begun = await run({ kind, state: "sent", attempts: 1, sent_at: t.clock.iso() });
    await t.store.hostActions.upsert([{ id: host.id, pending: kind, reference: begun.uuid }], { on: ["id"] });
    expect((await cancel(begun.uuid)).status).toBe(400);
    expect(await t.store.hostActions.get(host.id)).toMatchObject({ pending: kind });
    expect((await upcoming()).count).toBe(1);
  });

  it("requires roles on the host's team", async () => {
    const [team, foreign] = [await makeTeam(t), await makeTeam(t)];
    host = await makeHost(t, { team_id: team.id });
    const expected: Record<Role, [read: number, cancel: number]> = {
      admin: [200, 204],
      maintainer: [200, 204],
      technician: [200, 403],
      observer: [200, 403],
      observer_plus: [200, 403],
      gitops: [403, 403],
      plan: [403, 403],
    };
    for (const [role, [read, remove]] of Object.entries(expected) as [Role, [number, number]][]) {
      for (const who of [role, { teams: [{ id: team.id, role }] }]) {
        const user = await makeUser(t, who);
        const { uuid } = await run();
        const path = `/hosts/${host.id}/activities`;
        expect((await user.get(path)).status, role).toBe(read);
        expect((await user.get(`${path}/upcoming`)).status, role).toBe(read);
        expect((await user.delete(`${path}/upcoming/${uuid}`)).status, role).toBe(remove);
      }
      const stranger = await makeUser(t, { teams: [{ id: foreign.id, role }] });
      const { uuid } = await run();
      for (const status of [
        (await stranger.get(`/hosts/${host.id}/activities`)).status,
        (await stranger.get(`/hosts/${host.id}/activities/upcoming`)).status,
        (await stranger.delete(`/hosts/${host.id}/activities/upcoming/${uuid}`)).status,
      ])
        expect([403, 404]).toContain(status);
      expect(await t.store.operations.first({ where: { op: "eq", column: "uuid", value: uuid } })).toMatchObject({
        state: "queued",
      });
    }
    expect((await t.as(null).get(`/hosts/${host.id}/activities`)).status).toBe(401);
  });
});
