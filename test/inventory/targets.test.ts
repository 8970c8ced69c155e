import { describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeLabel, makeTeam, makeUser } from "../support/make.ts";

const OLD = "2026-01-01T00:00:00.000Z";
// biome-ignore lint/suspicious/noExplicitAny: replies of many shapes
const post = async (by: Pick<Caller, "post">, path: string, body: unknown): Promise<any> => {
  const res = await by.post(path, body);
  expect(res.status, await res.clone().text()).toBe(200);
  return res.json();
};
const names = (list: { hostname?: string; name?: string }[]) => list.map(({ hostname, name }) => hostname ?? name);

describe.each(bothEngines)("targets on %s", (engine) => {
  async function world() {
    const t = await startApp({ engine });
    const now = t.clock.iso();
    const [red, blue] = [await makeTeam(t, "Red Team"), await makeTeam(t, "Blue")];
    const a = await makeHost(
      t,
      { hostname: "alpha", primary_ip: "10.0.0.1", team_id: red.id, created_at: OLD },
      { seen: now },
    );
    const b = await makeHost(
      t,
      { hostname: "beta", display_name: "Beta's Mac", primary_ip: "10.0.0.2", team_id: blue.id, created_at: OLD },
      { seen: "2026-02-27T00:00:00.000Z" },
    );
    const c = await makeHost(
      t,
      { hostname: "gamma", uuid: "UUID-C", hardware_serial: "SER-C", created_at: OLD },
      { seen: OLD },
    );
    const label = await makeLabel(t, "redheads", [a.id, b.id]);
    return { t, red, blue, a, b, c, label };
  }

  it("are found by text, without the selected ones, which are counted", async () => {
    const { t, red, blue, a, c, label } = await world();
    const all = await post(t, "/targets", {});
    expect(names(all.targets.hosts)).toEqual(["alpha", "beta", "gamma"]);
    expect(names(all.targets.labels)).toEqual(expect.arrayContaining(["All Hosts", "macOS", "redheads"]));
    expect(names(all.targets.teams)).toEqual(["Blue", "Red Team"]);
    expect(all.targets.teams[1]).toMatchObject({ id: red.id, display_text: "Red Team", count: 1 });
    expect(all).toMatchObject({
      targets_count: 0,
      targets_online: 0,
      targets_offline: 0,
      targets_missing_in_action: 0,
    });

    const found = await post(t, "/targets", { query: " red ", selected: { hosts: [c.id], teams: [blue.id] } });
    expect(found.targets.hosts).toEqual([]);
    // The matching rows, and the label of all hosts.
    expect(names(found.targets.labels)).toEqual(expect.arrayContaining(["All Hosts", "redheads"]));
    expect(names(found.targets.labels)).not.toContain("macOS");
    expect(found.targets.labels.find(({ id }: { id: number }) => id === label.id)).toMatchObject({
      display_text: "redheads",
      count: 2,
    });
    expect(names(found.targets.teams)).toEqual(["Red Team"]);
    expect(found).toMatchObject({
      targets_count: 2,
      targets_online: 0,
      targets_offline: 2,
      targets_missing_in_action: 1,
    });

    expect(names((await post(t, "/targets", { query: "10.0.0.2" })).targets.hosts)).toEqual(["beta"]);
    const without = await post(t, "/targets", { selected: { hosts: [a.id], labels: [label.id], teams: [red.id] } });
    expect(names(without.targets.hosts)).toEqual(["beta", "gamma"]);
    expect(names(without.targets.labels)).not.toContain("redheads");
    expect(names(without.targets.teams)).toEqual(["Blue"]);
    expect(without).toMatchObject({ targets_count: 1, targets_online: 1, targets_offline: 0 });
  });

  it("list at most ten hosts", async () => {
    const { t } = await world();
    for (let i = 0; i < 12; i++) await makeHost(t, { hostname: `many-${i}` });
    expect((await post(t, "/targets", { query: "many" })).targets.hosts).toHaveLength(10);
    expect((await post(t, "/hosts/search", { query: "many" })).targets.hosts).toHaveLength(10);
  });

  it("are counted by the rules of selection", async () => {
    const { t, red, a, b, c, label } = await world();
    const [all] = await t.store.labels.list({ where: eq("name", "All Hosts") });
    const count = async (selected: unknown) => (await post(t, "/targets/count", { selected })).targets_count;
    expect(await post(t, "/targets/count", { selected: { hosts: [a.id, b.id, c.id] } })).toEqual({
      targets_count: 3,
      targets_online: 1,
      targets_offline: 2,
    });
    expect(await count({ labels: [label.id], teams: [red.id] })).toBe(1);
    expect(await count({ labels: [label.id], teams: [red.id], hosts: [c.id] })).toBe(2);
    expect(await count({ teams: [0, red.id] })).toBe(2);
    expect(await count({ labels: [all!.id], teams: [red.id] })).toBe(3);
    expect(await count({ labels: [99_999], teams: [red.id] })).toBe(0);
    expect(await count({})).toBe(0);
    expect(await count(undefined)).toBe(0);
  });

  it("are searched among hosts by every name, serial number, address and email", async () => {
    const { t, a, b, c } = await world();
    await t.store.hostEmails.insert({ host_id: a.id, email: "ada@example.com", source: "custom" });
    const search = async (body: unknown) => names((await post(t, "/hosts/search", body)).targets.hosts);
    expect(await search({ query: "beta's" })).toEqual(["beta"]);
    expect(await search({ query: "ALPH" })).toEqual(["alpha"]);
    expect(await search({ query: "ser-c" })).toEqual(["gamma"]);
    expect(await search({ query: "uuid-c" })).toEqual(["gamma"]);
    expect(await search({ query: "10.0.0." })).toEqual(["alpha", "beta"]);
    expect(await search({ query: "ada@" })).toEqual(["alpha"]);
    expect(await search({})).toEqual(["alpha", "beta", "gamma"]);
    expect(await search({ excluded_host_ids: [b.id, c.id] })).toEqual(["alpha"]);
  });

  it("are limited to those on which the caller may run the query", async () => {
    const { t, red, blue, a, b, c } = await world();
    const query = (observer_can_run: boolean, team_id: number | null = null) =>
      t.store.queries.insert({
        created_at: t.clock.iso(),
        updated_at: t.clock.iso(),
        name: `query ${Math.random()}`,
        query: "SELECT 1",
        observer_can_run,
        team_id,
      });
    const [open, closed] = [await query(true), await query(false)];
    const member = await makeUser(t, {
      teams: [
        { id: red.id, role: "maintainer" },
        { id: blue.id, role: "observer" },
      ],
    });
    const selected = { hosts: [a.id, b.id, c.id] };
    const seen = async (by: Caller, query_id: number | null) => [
      names((await post(by, "/hosts/search", { query_id })).targets.hosts),
      names((await post(by, "/targets", { query_id })).targets.hosts),
      (await post(by, "/targets/count", { query_id, selected })).targets_count,
    ];
    expect(await seen(member, null)).toEqual([["alpha"], ["alpha"], 1]);
    expect(await seen(member, closed.id)).toEqual([["alpha"], ["alpha"], 1]);
    expect(await seen(member, open.id)).toEqual([["alpha", "beta"], ["alpha", "beta"], 2]);
    const observer = await makeUser(t, "observer");
    expect(await seen(observer, null)).toEqual([[], [], 0]);
    expect(await seen(observer, open.id)).toEqual([["alpha", "beta", "gamma"], ["alpha", "beta", "gamma"], 3]);
    expect(names((await post(member, "/targets", {})).targets.teams)).toEqual(["Blue", "Red Team"]);
    const gitops = await makeUser(t, "gitops");
    for (const path of ["/targets", "/targets/count", "/hosts/search"]) {
      expect((await gitops.post(path, {})).status).toBe(403);
      expect((await t.post(path, { query_id: 99_999 })).status).toBe(404);
      expect((await t.post(path, { query_id: "x" })).status).toBe(422);
    }
    const foreign = await query(true, (await makeTeam(t)).id);
    expect((await member.post("/targets/count", { query_id: foreign.id })).status).toBe(404);
  });
});
