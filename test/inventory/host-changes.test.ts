// Hosts of a list that have changed since an earlier request.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { enroll, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";

const MINUTE = 60_000;

interface Reply {
  readonly hosts: { hostname: string }[];
  readonly changed_as_of?: string;
}

describe.each(bothEngines)("changed_since on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });
  afterEach(() => t.close());

  async function changed(since: string, more = "", caller: Pick<TestApp, "get"> = t) {
    const res = await caller.get(`/hosts?changed_since=${since}&order_key=hostname${more}`);
    expect(res.status, await res.clone().text()).toBe(200);
    const { hosts, changed_as_of } = (await res.json()) as Reply;
    return { names: hosts.map(({ hostname }) => hostname), next: changed_as_of! };
  }
  it("begins with all hosts, and returns the time for the next request", async () => {
    await makeHost(t, { hostname: "a" });
    await makeHost(t, { hostname: "b" });
    const { names, next } = await changed("");
    expect(names).toEqual(["a", "b"]);
    expect(next).toBe(new Date(t.clock.now() - MINUTE / 2).toISOString());
    expect((await (await t.get("/hosts")).json()) as Reply).not.toHaveProperty("changed_as_of");
    t.clock.advance(10 * MINUTE);
    const { next: later } = await changed(next);
    t.clock.advance(MINUTE);
    expect((await changed(later)).names).toEqual([]);
  });

  it("lists new and moved hosts, and combines with other filters and the count", async () => {
    const team = await makeTeam(t, "Lab");
    const hosts = [];
    for (const hostname of ["a", "b", "c"]) hosts.push(await makeHost(t, { hostname }));
    t.clock.advance(10 * MINUTE);
    const { next } = await changed("");
    t.clock.advance(10 * MINUTE);
    await makeHost(t, { hostname: "new" });
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [hosts[1]!.id] })).status).toBe(200);
    expect((await changed(next)).names).toEqual(["b", "new"]);
    expect((await changed(next, `&team_id=${team.id}`)).names).toEqual(["b"]);
    expect((await changed(next, "&query=new&fields=hostname")).names).toEqual(["new"]);
    expect((await changed(next, "&where=team%20%3D%20Lab&page=0&per_page=1")).names).toEqual(["b"]);
    expect(await (await t.get(`/hosts/count?changed_since=${next}`)).json()).toEqual({ count: 2 });
    const { token } = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect((await changed(next, "", t.as(token))).names).toEqual(["b"]);
  });

  it("lists hosts that went offline or came online, not those that are in contact all the time", async () => {
    const send = throughApp(t);
    await makeSecret(t);
    const keys: string[] = [];
    for (const host_identifier of ["steady", "back"]) keys.push(await enroll(send, { host_identifier }));
    const contact = async (...places: number[]) => {
      for (const place of places) await send("/api/v1/qengine/config", { node_key: keys[place] });
      await t.agent.flush();
    };
    const identifiers = async (since: string) => {
      const res = await t.get(`/hosts?changed_since=${since}&fields=uuid`);
      const ids = ((await res.json()) as { hosts: { id: number }[] }).hosts.map(({ id }) => id);
      const rows = await t.store.hosts.getMany(ids);
      return rows.map(({ identifier }) => identifier).sort();
    };
    await contact(0, 1);
    // Both are in contact for a while, so that nothing but contacts can be a change.
    for (let minute = 0; minute < 5; minute++) {
      t.clock.advance(MINUTE / 2);
      await contact(0, 1);
    }
    const { next: online } = await changed("");
    for (let turn = 0; turn < 4; turn++) {
      t.clock.advance(MINUTE / 2);
      await contact(0);
    }
    expect(await identifiers(online)).toEqual(["back"]);
    t.clock.advance(MINUTE / 2);
    await contact(0);
    t.clock.advance(MINUTE / 2);
    await contact(0);
    const { next: offline } = await changed("");
    expect(await identifiers(offline)).toEqual([]);
    t.clock.advance(MINUTE / 2);
    await contact(0, 1);
    expect(await identifiers(offline)).toEqual(["back"]);
  });

  it("refuses what is no time", async () => {
    for (const text of ["yesterday", "2026-13-45T00:00:00Z", "7"]) {
      const res = await t.get(`/hosts?changed_since=${text}`);
      expect(res.status).toBe(400);
      expect(((await res.json()) as { errors: { name: string }[] }).errors[0]!.name).toBe("changed_since");
    }
  });
});
