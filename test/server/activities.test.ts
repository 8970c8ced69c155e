import { describe, expect, it } from "vitest";
import type { Activity } from "../../src/api/activities.ts";
import { everything } from "../../src/server/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makeTeam, makeUser } from "../support/make.ts";

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

describe.each(["lowdb", "postgres"] as const)("activities on %s", (engine) => {
  it("are listed by search, type, time and order", async () => {
    const t = await startApp({ engine });
    await fill(t);
    const times = async (query: string) => (await listed(t, query)).map((a) => Number(a.created_at.slice(11, 13)));
    expect(await times("")).toEqual([3, 1, 2, 4]);
    expect(await times("order_key=created_at&order_direction=desc")).toEqual([4, 3, 2, 1]);
    expect(await times("activity_type=a")).toEqual([1, 2]);
    expect(await times("query=HOPPER")).toEqual([3]);
    expect(await times("query=example.org")).toEqual([1]);
    expect(await times(`start_created_at=${at(2)}`)).toEqual([3, 4]);
    expect(await times(`end_created_at=${at(2)}`)).toEqual([1]);
    expect(await times(`start_created_at=${at(1)}&end_created_at=${at(3)}`)).toEqual([2]);
    expect(await times("start_created_at=2026-02-01T03:30:00%2B01:00")).toEqual([3, 4]);
    expect(await times("start_created_at=2026-02-01T03:30:00+01:00")).toEqual([3, 4]);
    expect(await times("end_created_at=2026-02-01")).toEqual([]);
    expect(await times("start_created_at=2026-02-01&per_page=2&page=1")).toEqual([2, 4]);
  });

  it("name no actor where the service acted by itself, or nobody did", async () => {
    const t = await startApp({ engine });
    await fill(t);
    const [grace, , service, failed] = await listed(t);
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

  it("refuse times and order keys that are none", async () => {
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
});
