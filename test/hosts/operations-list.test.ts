// Operations of all hosts: lists, and cancellations of many.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Role } from "../../src/api/access.ts";
import type { HostOperation } from "../../src/api/hosts/operations.ts";
import { selectionHeaders, selectionOf } from "../../src/api/hosts/selection-digest.ts";
import { sendOperation } from "../../src/server/hosts/operations/queue.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeOperation, makeTeam, makeUser } from "../support/make.ts";
import { withSecondServer } from "../support/second-server.ts";

interface Page {
  operations: HostOperation[];
  meta: { has_next_results: boolean };
}
interface Cancellation {
  cancelled: number[];
  not_cancelled: { id: number; reason: string }[];
}

describe.each(bothEngines)("operations of all hosts on %s", (engine) => {
  let t: TestApp;

  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
  });
  afterAll(() => t.close());

  const list = async (query = "", user: Pick<TestApp, "get"> = t) =>
    (await (await user.get(`/operations${query}`)).json()) as Page;
  const idsOf = async (query: string, user?: Pick<TestApp, "get">) =>
    (await list(query, user)).operations.map(({ id }) => id);
  const cancel = async (body: unknown) => (await (await t.post("/operations/cancel", body)).json()) as Cancellation;
  const cancelAs = (body: unknown, headers: Record<string, string>) =>
    t.raw("/api/v1/svc/operations/cancel", {
      method: "POST",
      headers: { authorization: `Bearer ${t.token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const stateOf = async (id: number) => (await t.store.operations.get(id))?.state;

  it("are listed newest first, with their host, requester, position and whether they can be cancelled", async () => {
    const me = (await t.store.users.first({}))!;
    const team = await makeTeam(t);
    const host = await makeHost(t, { team_id: team.id });
    const first = await makeOperation(t, host.id, { kind: "lock", user_id: me.id, state: "sent", attempts: 1 });
    const second = await makeOperation(t, host.id, { kind: "unlock" });
    const ended = await makeOperation(t, host.id, { kind: "wipe", state: "failed", ended_at: t.clock.iso() });
    const { operations } = await list(`?host_id=${host.id}`);
    expect(operations).toMatchObject([
      {
        id: ended.id,
        state: "failed",
        finished_at: t.clock.iso(),
        position_in_queue: null,
        can_cancel: false,
        reason_not_cancellable: "it has ended already: it is failed",
      },
      { id: second.id, position_in_queue: 2, can_cancel: true, reason_not_cancellable: null, source: "server" },
      {
        id: first.id,
        uuid: first.uuid,
        kind: "lock",
        state: "sent",
        host: { id: host.id, display_name: host.display_name, team_id: team.id },
        requested_by: { id: me.id, name: me.name },
        source: "user",
        detail: "lock",
        attempts: 1,
        position_in_queue: 1,
        can_cancel: false,
        reason_not_cancellable: "the lock has started on the host and cannot be cancelled",
      },
    ]);
    const single = (await (await t.get(`/operations/${second.id}`)).json()) as { operation: HostOperation };
    expect(single.operation).toEqual(operations[1]);
    expect((await t.get("/operations/999999")).status).toBe(404);
  });

  it("are filtered and paged", async () => {
    const team = await makeTeam(t);
    const [host, other] = [await makeHost(t, { team_id: team.id, hostname: "needle-1" }), await makeHost(t)];
    const user = await makeUser(t, "admin");
    const lock = await makeOperation(t, host.id, { kind: "lock", user_id: user.id });
    const wipe = await makeOperation(t, host.id, { kind: "wipe", state: "answered", ended_at: t.clock.iso() });
    const foreign = await makeOperation(t, other.id, { kind: "lock" });
    const ofTeam = `team_id=${team.id}`;
    expect(await idsOf(`?${ofTeam}`)).toEqual([wipe.id, lock.id]);
    expect(await idsOf(`?${ofTeam}&state=queued,sent`)).toEqual([lock.id]);
    expect(await idsOf(`?${ofTeam}&kind=wipe`)).toEqual([wipe.id]);
    expect(await idsOf(`?requested_by=${user.id}`)).toEqual([lock.id]);
    expect(await idsOf("?query=needle")).toEqual([wipe.id, lock.id]);
    expect(await idsOf(`?host_id=${other.id}`)).toEqual([foreign.id]);
    expect(await idsOf("?team_id=0&per_page=1")).toEqual([foreign.id]);
    expect(await idsOf(`?${ofTeam}&order_key=id&order_direction=desc&after=${wipe.id}`)).toEqual([lock.id]);
    expect((await list(`?${ofTeam}&page=0&per_page=1`)).meta.has_next_results).toBe(true);
    expect(await idsOf(`?${ofTeam}&since=2999-01-01T00:00:00Z`)).toEqual([]);
    const counted = await t.get(`/operations?${ofTeam}&with_count=true`);
    expect(counted.headers.get("x-total-count")).toBe("2");
    for (const bad of ["state=open", "kind=nothing", "since=yesterday", "per_page=1001", "host_id=x"]) {
      const response = await t.get(`/operations?${bad}`);
      expect(response.status, bad).toBe(400);
      expect(((await response.json()) as { errors: { name: string }[] }).errors[0]?.name, bad).toBe(bad.split("=")[0]);
    }
  });

  it("are cancelled by their ids, each on its own, with the reasons of those that are not", async () => {
    const host = await makeHost(t);
    const waiting = await makeOperation(t, host.id, { kind: "unlock" });
    const begun = await makeOperation(t, host.id, { kind: "lock", state: "sent", attempts: 1 });
    const ended = await makeOperation(t, host.id, { kind: "wipe", state: "answered", ended_at: t.clock.iso() });
    const before = await t.store.activities.count(eq("host_id", host.id));
    const reply = await cancel({ ids: [waiting.id, begun.id, ended.id, 999_999, waiting.id] });
    expect(reply.cancelled).toEqual([waiting.id]);
    expect(reply.not_cancelled).toEqual([
      { id: begun.id, reason: "the lock has started on the host and cannot be cancelled" },
      { id: ended.id, reason: "it has ended already: it is answered" },
      { id: 999_999, reason: "operation 999999 was not found" },
    ]);
    expect([await stateOf(waiting.id), await stateOf(begun.id)]).toEqual(["cancelled", "sent"]);
    expect(await t.store.activities.count(eq("host_id", host.id))).toBe(before + 1);
    const [recorded] = await t.store.activities.list({
      where: eq("host_id", host.id),
      order: [{ column: "id", direction: "desc" }],
      limit: 1,
    });
    expect(recorded?.type).toBe("canceled_run_script");
    expect((await cancel({ ids: [waiting.id] })).not_cancelled).toHaveLength(1);
  });

  it("are cancelled by filters, only if the selection is the expected one", async () => {
    const team = await makeTeam(t);
    const hosts = [await makeHost(t, { team_id: team.id }), await makeHost(t, { team_id: team.id })];
    const queued = await Promise.all(hosts.map(({ id }) => makeOperation(t, id, { kind: "unlock" })));
    await makeOperation(t, hosts[0]!.id, { kind: "wipe", state: "answered", ended_at: t.clock.iso() });
    const ids = queued.map(({ id }) => id).sort((a, b) => a - b);
    const filters = { team_id: team.id };
    const wrong = await cancelAs({ filters }, { [selectionHeaders.count]: "3" });
    expect(wrong.status).toBe(409);
    expect(await wrong.json()).toMatchObject({
      errors: [{ reason: "the selection changed: expected 3 operations, found 2" }],
    });
    const { digest } = await selectionOf(ids.slice(1));
    expect((await cancelAs({ filters }, { [selectionHeaders.digest]: digest })).status).toBe(409);
    expect(await stateOf(ids[0]!)).toBe("queued");
    const tried = await cancelAs({ filters }, { [selectionHeaders.count]: "2", "dry-run": "true" });
    expect(tried.status).toBe(200);
    expect(await stateOf(ids[0]!)).toBe("queued");
    const right = await cancelAs({ filters }, { [selectionHeaders.count]: "2" });
    expect(((await right.json()) as Cancellation).cancelled.sort((a, b) => a - b)).toEqual(ids);
    expect(await stateOf(ids[1]!)).toBe("cancelled");
  });

  it("refuse a cancellation without a selection, with two, or with too many", async () => {
    for (const body of [
      {},
      { ids: [1], filters: {} },
      { ids: [] },
      { ids: ["x"] },
      { filters: { state: "failed?" } },
    ]) {
      const response = await t.post("/operations/cancel", body);
      expect([400, 422], JSON.stringify(body)).toContain(response.status);
    }
    const host = await makeHost(t);
    const row = await makeOperation(t, host.id, { kind: "unlock" });
    const { id: _, revision: __, ...rest } = row;
    await t.store.operations.insertMany(Array.from({ length: 1000 }, (_, i) => ({ ...rest, uuid: `many-${i}` })));
    const response = await t.post("/operations/cancel", { filters: { host_id: host.id } });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain("1001 operations match");
    await t.store.operations.delete(eq("host_id", host.id));
  });

  it("are for roles on the host's team", async () => {
    const [team, foreignTeam] = [await makeTeam(t), await makeTeam(t)];
    const host = await makeHost(t, { team_id: team.id });
    const foreign = await makeOperation(t, (await makeHost(t, { team_id: foreignTeam.id })).id, { kind: "lock" });
    const expected: Record<Role, [read: number, cancel: number]> = {
      admin: [200, 200],
      maintainer: [200, 200],
      technician: [200, 403],
      observer: [200, 403],
      observer_plus: [200, 403],
      gitops: [403, 403],
      plan: [403, 403],
    };
    for (const [role, [read, remove]] of Object.entries(expected) as [Role, [number, number]][]) {
      const user = await makeUser(t, { teams: [{ id: team.id, role }] });
      const { id } = await makeOperation(t, host.id, { kind: "unlock" });
      expect((await user.get("/operations")).status, role).toBe(read);
      expect((await user.get(`/operations/${id}`)).status, role).toBe(read);
      if (read === 200) {
        const { operations } = await list("", user);
        expect(new Set(operations.map((operation) => operation.host.team_id))).toEqual(new Set([team.id]));
        expect(operations[0]).toMatchObject({ id, can_cancel: remove === 200 });
        expect((await user.get(`/operations/${foreign.id}`)).status, role).toBe(404);
      }
      const reply = await user.post("/operations/cancel", { ids: [id, foreign.id] });
      expect(reply.status, role).toBe(remove);
      expect(await stateOf(id), role).toBe(remove === 200 ? "cancelled" : "queued");
      expect(await stateOf(foreign.id), role).toBe("queued");
    }
    // A role that may cancel on one team does not help on another.
    const mixed = await makeUser(t, {
      teams: [
        { id: team.id, role: "observer" },
        { id: foreignTeam.id, role: "admin" },
      ],
    });
    const { id } = await makeOperation(t, host.id, { kind: "unlock" });
    const reply = (await (await mixed.post("/operations/cancel", { ids: [id] })).json()) as Cancellation;
    expect(reply).toMatchObject({ cancelled: [], not_cancelled: [{ id, reason: expect.stringContaining("role") }] });
    expect((await t.as(null).get("/operations")).status).toBe(401);
  });

  it.skipIf(engine !== "postgres")("are either sent by one server or cancelled by another, never both", async () => {
    await withSecondServer(t, async (there) => {
      for (let round = 0; round < 10; round++) {
        const host = await makeHost(t);
        const { id, uuid } = await makeOperation(t, host.id, { kind: "wipe" });
        const [reply, sent] = await Promise.all([
          cancel({ ids: [id] }),
          sendOperation(there.services, host.id, uuid).then(
            () => true,
            () => false,
          ),
        ]);
        expect(reply.cancelled.length === 1, `round ${round}`).toBe(!sent);
        expect(await stateOf(id)).toBe(sent ? "sent" : "cancelled");
      }
    });
  });
});
