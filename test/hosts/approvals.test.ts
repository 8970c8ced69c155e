// Wipes and bulk deletes that another user has to approve.

import { describe, expect, it } from "vitest";
import type { Approval } from "../../src/api/hosts/approvals.ts";
import type { Task } from "../../src/api/platform/tasks.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { approve as approveAt } from "../../src/server/hosts/approvals/decide.ts";
import { approvedActs } from "../../src/server/inventory/approvals/routes.ts";
import { days, hours, minutes } from "../../src/server/platform/core/clock.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import { createCipher } from "../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../src/server/platform/store/postgres/open.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { StoreUnavailable } from "../../src/server/platform/store/store.ts";
import { type Caller, type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { makeApproval } from "../support/approvals.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { hostRow, makeHost, makeSession, makeTeam, makeUser } from "../support/make.ts";

type Body = { approval: Approval; task: Task; errors: { name: string; reason: string }[] };
const read = async (res: Response) => (await res.json()) as Body;
const reasonOf = async (res: Response) => (await read(res)).errors[0]!.reason;

const makeHosts = async (t: TestApp, count: number, team_id: number | null = null): Promise<number[]> => {
  const rows = Array.from({ length: count }, () => hostRow(t.clock.iso(), { team_id }));
  return (await t.store.hosts.insertMany(rows)).map(({ id }) => id);
};
async function wipeable(t: TestApp, team_id: number | null = null): Promise<number> {
  const { id } = await makeHost(t, { team_id, hostname: "box" });
  await t.store.managedAgents.insert({ id, agent_key_hash: `of ${id}`, enrolled_at: t.clock.iso() });
  return id;
}
const feed = async (t: TestApp, type: string) => t.store.activities.list({ where: eq("type", type) });

async function start(options: StartOptions) {
  const t = await startApp({ ...options, settings: { require_approval: true, ...options.settings } });
  const mia = await makeUser(t, "maintainer", { name: "Mia", email: "mia@example.com" });
  const left = () => t.store.hosts.count();
  const ask = async (by: Caller, ids: readonly number[]): Promise<Approval> => {
    const res = await by.post("/hosts/delete", { ids });
    expect(res.status).toBe(202);
    return (await read(res)).approval;
  };
  const approve = (by: Caller, { id }: { id: number }) => by.post(`/approvals/${id}/approve`);
  const stateOf = async ({ id }: { id: number }) => (await read(await t.get(`/approvals/${id}`))).approval.state;
  return { t, mia, left, ask, approve, stateOf };
}

describe.each(rulesEngines)("approvals on %s", (engine) => {
  it("are requested instead of a bulk delete, which runs after another user's approval", async () => {
    const { t, mia, left, ask, approve } = await start({ engine });
    const ids = await makeHosts(t, 130);
    const asked = await ask(mia, ids);
    expect(asked).toMatchObject({
      action: "delete_hosts",
      state: "pending",
      requested_by: { id: mia.id, name: "Mia", email: "mia@example.com" },
      hosts_count: 130,
      selection_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      filters: null,
      decided_by: null,
      may_decide: false,
      expires_at: new Date(t.clock.now() + hours(24)).toISOString(),
    });
    expect(asked.hosts.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    expect(await left()).toBe(130);
    expect((await read(await t.get(`/approvals/${asked.id}`))).approval.may_decide).toBe(true);
    t.clock.advance(minutes(5));
    const done = await approve(t, asked);
    expect(done.status).toBe(200);
    expect((await read(done)).approval).toMatchObject({
      state: "done",
      decided_by: { name: "Ada Admin", email: "ada@example.com" },
      decided_at: t.clock.iso(),
      finished_at: t.clock.iso(),
      error: "",
    });
    expect(await left()).toBe(0);
    const deleted = await feed(t, "deleted_host");
    expect(deleted).toHaveLength(130);
    expect(new Set(deleted.map(({ actor_email }) => actor_email))).toEqual(new Set(["mia@example.com"]));
    expect(await feed(t, "requested_approval")).toMatchObject([
      { actor_email: "mia@example.com", details: { approval_id: asked.id, action: "delete_hosts", hosts_count: 130 } },
    ]);
    expect(await feed(t, "granted_approval")).toMatchObject([
      { actor_email: "ada@example.com", details: { approval_id: asked.id, user_email: "mia@example.com" } },
    ]);
  });

  it("are requested for wipes, and for deletes of more hosts than the threshold", async () => {
    const { t, mia, left } = await start({ engine, settings: { approval_delete_threshold: 2 } });
    const ids = await makeHosts(t, 6);
    expect((await mia.delete(`/hosts/${ids[0]}`)).status).toBe(200);
    expect((await mia.post("/hosts/delete", { ids: ids.slice(1, 3) })).status).toBe(200);
    expect((await mia.post("/hosts/delete", { filters: { query: "nothing-has-this" } })).status).toBe(200);
    expect((await t.post("/hosts/delete", { filters: {} })).status, "admins too").toBe(202);
    expect(await left()).toBe(3);
    const strict = await start({ engine, settings: { approval_delete_threshold: 0 } });
    const [one] = await makeHosts(strict.t, 1);
    const single = await strict.mia.delete(`/hosts/${one}`);
    expect([single.status, (await read(single)).approval.hosts_count]).toEqual([202, 1]);
    expect(await strict.left()).toBe(1);
    const off = await startApp({ engine });
    await makeHosts(off, 3);
    expect((await off.post("/hosts/delete", { filters: {} })).status).toBe(200);
    expect(await off.store.approvals.count()).toBe(0);
  });

  it("wipe a host in the name of the requester, immediately after the approval", async () => {
    const { t, mia, approve } = await start({ engine });
    const id = await wipeable(t);
    const asked = await mia.post(`/hosts/${id}/wipe`);
    expect(asked.status).toBe(202);
    const body = (await asked.json()) as { approval: Approval };
    expect(body).toMatchObject({
      device_status: "unlocked",
      pending_action: "",
      approval: { action: "wipe_host", hosts: [{ id, display_name: "box" }] },
    });
    expect(await t.store.operations.count()).toBe(0);
    expect((await read(await approve(t, body.approval))).approval.state).toBe("done");
    expect(await t.store.operations.list()).toMatchObject([{ host_id: id, kind: "wipe", user_id: mia.id }]);
    expect(await feed(t, "wiped_host")).toMatchObject([{ actor_email: "mia@example.com" }]);
    expect((await feed(t, "granted_approval"))[0]!.details).toMatchObject({ host_id: id, host_display_name: "box" });
    // An action that would be refused anyway does not need an approval.
    expect((await mia.post(`/hosts/${id}/wipe`)).status).toBe(422);
    expect((await mia.post(`/hosts/${(await makeHost(t)).id}/wipe`)).status).toBe(422);
    expect((await mia.post("/hosts/999999/wipe")).status).toBe(404);
    expect((await mia.post(`/hosts/${await wipeable(t)}/lock`)).status, "locks need none").toBe(200);
    expect(await t.store.approvals.count()).toBe(1);
  });

  it("cannot be granted to oneself, with any token", async () => {
    const { t, mia, left, ask, approve, stateOf } = await start({ engine });
    const asked = await ask(mia, await makeHosts(t, 3));
    const { token } = (await (await mia.post("/tokens", { name: "second" })).json()) as { token: string };
    const session = t.as(await makeSession(t, mia.id));
    for (const self of [mia, session, t.as(token)]) {
      const res = await approve(self, asked);
      expect([res.status, await reasonOf(res)]).toEqual([403, expect.stringContaining("another user")]);
    }
    const byToken = await ask(t.as(token), await makeHosts(t, 2));
    expect((await approve(mia, byToken)).status).toBe(403);
    expect(await stateOf(asked)).toBe("pending");
    expect(await left()).toBe(5);
  });

  it("require the right to do it to all of the hosts, and are invisible to others", async () => {
    const { t, mia, left, ask, approve } = await start({ engine });
    const [lab, desk] = [await makeTeam(t, "Lab"), await makeTeam(t, "Desk")];
    const inLab = await makeHosts(t, 2, lab.id);
    const inDesk = await makeHosts(t, 2, desk.id);
    const nowhere = await makeHosts(t, 2);
    const of = (...teams: { id: number }[]) =>
      makeUser(t, { teams: teams.map(({ id }) => ({ id, role: "admin" as const })) });
    const [labAdmin, bothAdmin] = [await of(lab), await of(lab, desk)];
    const watcher = await makeUser(t, { teams: [{ id: lab.id, role: "observer" }] });
    const globalObserver = await makeUser(t, "observer");
    const own = await ask(mia, inLab);
    const across = await ask(mia, [...inLab, ...inDesk]);
    const none = await ask(mia, nowhere);
    const seenBy = async (user: Caller) => {
      const { approvals } = (await (await user.get("/approvals")).json()) as { approvals: Approval[] };
      return approvals.map(({ id, may_decide }) => [id, may_decide]);
    };
    expect(await seenBy(t)).toEqual([none, across, own].map(({ id }) => [id, true]));
    expect(await seenBy(mia)).toEqual([none, across, own].map(({ id }) => [id, false]));
    expect(await seenBy(labAdmin)).toEqual([[own.id, true]]);
    expect(await seenBy(bothAdmin)).toEqual([across, own].map(({ id }) => [id, true]));
    expect(await seenBy(watcher)).toEqual([]);
    expect(await seenBy(globalObserver)).toEqual([]);
    for (const user of [watcher, globalObserver]) expect((await approve(user, own)).status).toBe(403);
    for (const hidden of [across, none]) {
      expect((await approve(labAdmin, hidden)).status).toBe(404);
      expect((await labAdmin.get(`/approvals/${hidden.id}`)).status).toBe(404);
      expect((await labAdmin.post(`/approvals/${hidden.id}/deny`, { reason: "no" })).status).toBe(404);
    }
    // A host that has left the team in the meantime is no longer theirs.
    await t.store.hosts.updateEach([{ id: inLab[0]!, team_id: desk.id }]);
    expect((await approve(labAdmin, own)).status).toBe(404);
    await t.store.hosts.updateEach([{ id: inLab[0]!, team_id: lab.id }]);
    expect((await approve(bothAdmin, across)).status).toBe(200);
    expect(await left()).toBe(2);
    const gone = await approve(labAdmin, own);
    expect([gone.status, await reasonOf(gone)]).toEqual([409, expect.stringContaining("expected 2 hosts, found 0")]);
  });

  it("apply to the hosts that were shown, and are void if the selection has changed", async () => {
    const { t, mia, left, approve, stateOf } = await start({ engine });
    await makeHosts(t, 4);
    const filters = { query: "example.com" };
    const asked = (await read(await mia.post("/hosts/delete", { filters }))).approval;
    expect(asked).toMatchObject({ filters, hosts_count: 4 });
    await makeHosts(t, 1);
    const moved = await approve(t, asked);
    expect(moved.status).toBe(409);
    expect(await reasonOf(moved)).toContain("is void: the selection changed: expected 4 hosts, found 5");
    expect(await stateOf(asked)).toBe("failed");
    expect(await left()).toBe(5);
    const again = await approve(t, asked);
    expect([again.status, await reasonOf(again)]).toEqual([409, expect.stringContaining("came to nothing")]);
    const anew = (await read(await mia.post("/hosts/delete", { filters }))).approval;
    expect(anew.id).not.toBe(asked.id);
    expect((await approve(t, anew)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it("are void if the requester lost the role, must change the password, or was deleted", async () => {
    const { t, left, ask, approve, stateOf } = await start({ engine });
    const ids = await makeHosts(t, 2);
    const team = await makeTeam(t);
    await t.store.hosts.updateEach(ids.map((id) => ({ id, team_id: team.id })));
    for (const end of ["role", "team", "password", "gone"] as const) {
      const user = await makeUser(t, end === "team" ? { teams: [{ id: team.id, role: "maintainer" }] } : "maintainer");
      const asked = await ask(user, ids);
      const set = { role: { global_role: "observer" as const }, password: { force_password_reset: true } };
      if (end === "gone") expect((await t.delete(`/users/${user.id}`)).status).toBe(200);
      else if (end === "team") await t.store.userTeams.delete(eq("user_id", user.id));
      else await t.store.users.update({ where: eq("id", user.id), set: set[end] });
      const res = await approve(t, asked);
      expect([res.status, await reasonOf(res)], end).toEqual([409, expect.stringContaining("the user who asked")]);
      expect(await stateOf(asked)).toBe("failed");
    }
    expect(await left()).toBe(2);
  });

  it("expire after a day", async () => {
    const { t, mia, left, ask, approve, stateOf } = await start({ engine });
    const asked = await ask(mia, await makeHosts(t, 2));
    t.clock.advance(hours(24) - 1);
    expect(await stateOf(asked)).toBe("pending");
    t.clock.advance(1);
    expect(await stateOf(asked)).toBe("expired");
    const late = await approve(t, asked);
    expect([late.status, await reasonOf(late)]).toEqual([409, expect.stringContaining("has expired")]);
    expect((await t.post(`/approvals/${asked.id}/deny`, { reason: "no" })).status).toBe(409);
    const listed = async (state: string) =>
      ((await (await t.get(`/approvals?state=${state}`)).json()) as { approvals: Approval[] }).approvals.length;
    expect([await listed("pending"), await listed("expired")]).toEqual([0, 1]);
    await runJob(t.services, "approvals");
    expect([await listed("pending"), await listed("expired")]).toEqual([0, 1]);
    expect(await t.store.approvalChoices.count()).toBe(0);
    t.clock.advance(days(30));
    await runJob(t.services, "approvals");
    expect([await t.store.approvals.count(), await t.store.approvalTeams.count()]).toEqual([0, 0]);
    expect(await left()).toBe(2);
  });

  it("are denied with a reason by users who may decide, and withdrawn by the requester", async () => {
    const { t, mia, left, ask, approve } = await start({ engine });
    const ids = await makeHosts(t, 4);
    const asked = await ask(mia, ids);
    expect((await t.post(`/approvals/${asked.id}/deny`, {})).status).toBe(422);
    expect((await t.post(`/approvals/${asked.id}/deny`, { reason: " " })).status).toBe(422);
    const denied = await t.post(`/approvals/${asked.id}/deny`, { reason: "these are in use" });
    expect((await read(denied)).approval).toMatchObject({
      state: "denied",
      reason: "these are in use",
      decided_by: { email: "ada@example.com" },
    });
    expect((await approve(t, asked)).status).toBe(409);
    expect((await t.post(`/approvals/${asked.id}/deny`, { reason: "again" })).status).toBe(409);
    const second = await ask(mia, ids.slice(1));
    expect((await mia.post(`/approvals/${second.id}/deny`, { reason: "a mistake" })).status).toBe(200);
    expect(await left()).toBe(4);
    expect(
      (await feed(t, "denied_approval")).map(({ actor_email, details }) => [actor_email, details?.reason]),
    ).toEqual([
      ["ada@example.com", "these are in use"],
      ["mia@example.com", "a mistake"],
    ]);
  });

  it("are not duplicated by a second request, and a user has at most a hundred", async () => {
    const { t, mia, ask } = await start({ engine });
    const ids = await makeHosts(t, 102);
    const first = await ask(mia, ids.slice(0, 2));
    expect((await ask(mia, ids.slice(0, 2).reverse())).id).toBe(first.id);
    expect((await ask(t, ids.slice(0, 2))).id, "another user's is another").not.toBe(first.id);
    for (let i = 2; i < 101; i++) await makeApproval(t, mia.id, [ids[0]!, ids[i]!]);
    expect((await mia.post("/hosts/delete", { ids })).status).toBe(409);
    expect((await ask(mia, ids.slice(0, 2))).id).toBe(first.id);
    expect(await feed(t, "requested_approval")).toHaveLength(101);
  });

  // The server is killed after the approval was stored: immediately, and in the middle of the work.
  it.each([0, 1, 2])("are continued after a crash, %i batches into the work, and nothing is done twice", async (n) => {
    const { t, mia, left, ask, approve, stateOf } = await start({ engine });
    const ids = await makeHosts(t, 200);
    const kept = await makeHost(t);
    const asked = await ask(mia, ids);
    const { store } = t.services;
    const { tx } = store;
    // From then on, every transaction fails as if the server were dead.
    const dying: typeof tx = async (work, options) => {
      const [task] = await store.tasks.list();
      if (task?.state === "running" && task.progress >= 60 * n) throw new StoreUnavailable("the server died here");
      return tx(work, options);
    };
    Object.assign(store, { tx: dying });
    const fallen = await approve(t, asked);
    Object.assign(store, { tx });
    expect(fallen.status).toBe(202);
    expect(await left()).toBe(201 - 60 * n);
    expect(await stateOf(asked)).toBe("approved");
    expect((await approve(t, asked)).status, "it is approved: not again").toBe(409);
    expect((await t.post(`/approvals/${asked.id}/deny`, { reason: "too late" })).status).toBe(409);

    t.clock.advance(minutes(1));
    await t.store.notify("svc_tasks", "");
    await expect.poll(() => stateOf(asked)).toBe("done");
    expect(await stateOf(asked)).toBe("done");
    expect(await t.store.hosts.pick(["id"])).toEqual([{ id: kept.id }]);
    const deleted = await feed(t, "deleted_host");
    expect(deleted.map(({ details }) => details?.host_id).sort()).toEqual([...ids].sort());
    expect(deleted.every(({ actor_id }) => actor_id === mia.id)).toBe(true);
    await runJob(t.services, "approvals");
    expect(await left()).toBe(1);
  });

  it("name the task that executes them, and end with it if it is cancelled", async () => {
    const { t, mia, ask, approve, stateOf } = await start({ engine });
    const asked = await ask(mia, await makeHosts(t, 130));
    const { task_id } = (await read(await approve(t, asked))).approval;
    expect((await read(await mia.get(`/tasks/${task_id}`))).task).toMatchObject({ state: "done", progress: 130 });
    expect(await stateOf(asked)).toBe("done");
  });

  it("do not start if the approval could not be stored", async () => {
    const { t, mia, left, ask, approve, stateOf } = await start({ engine });
    const asked = await ask(mia, await makeHosts(t, 3));
    const { store } = t.services;
    const { tx } = store;
    const dead: typeof tx = async () => {
      throw new StoreUnavailable("the server died here");
    };
    Object.assign(store, { tx: dead });
    expect((await approve(t, asked)).status).toBe(503);
    Object.assign(store, { tx });
    expect([await stateOf(asked), await left()]).toEqual(["pending", 3]);
    expect((await approve(t, asked)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it("count against the requester's budget, and wait while it is used up", async () => {
    const { t, mia, left, ask, approve, stateOf } = await start({ engine, settings: { host_deletes_per_hour: 3 } });
    const ids = await makeHosts(t, 6);
    const [first, second] = [await ask(mia, ids.slice(0, 3)), await ask(mia, ids.slice(3))];
    expect((await approve(t, first)).status).toBe(200);
    const full = await approve(t, second);
    expect([full.status, await reasonOf(full)]).toEqual([
      429,
      expect.stringContaining("mia@example.com has deleted 3"),
    ]);
    expect([await stateOf(second), await left()]).toEqual(["pending", 3]);
    t.clock.advance(minutes(61));
    expect((await approve(t, second)).status).toBe(200);
    expect(await left()).toBe(0);
  });

  it("still require the expected hosts, if the server is configured so", async () => {
    const { t, mia, left } = await start({ engine, settings: { require_expected_count: true } });
    const ids = await makeHosts(t, 2);
    expect((await mia.post("/hosts/delete", { ids })).status).toBe(428);
    const { digest } = (await (await mia.get("/hosts/count?digest=1")).json()) as { digest: string };
    const headers = { "x-expected-count": "2", "x-selection-digest": digest };
    const { approval } = await read(await mia.request("POST", "/hosts/delete", { ids }, headers));
    expect(approval.selection_digest).toBe(digest);
    expect((await t.post(`/approvals/${approval.id}/approve`)).status).toBe(200);
    expect(await left()).toBe(0);
  });
});

describe.each(bothEngines)("concurrent decisions about approvals on %s", (engine) => {
  it("are executed once, however many users approve or deny concurrently", async () => {
    const { t, mia, left, ask, approve } = await start({ engine });
    const others = [t, await makeUser(t, "admin"), await makeUser(t, "maintainer"), await makeUser(t, "admin")];
    const ids = await makeHosts(t, 150);
    const asked = await ask(mia, ids);
    const replies = await Promise.all([...others, ...others].map((by) => approve(by, asked)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect(await left()).toBe(0);
    expect(await feed(t, "deleted_host")).toHaveLength(150);
    expect(await feed(t, "granted_approval")).toHaveLength(1);
    const id = await wipeable(t);
    const wipe = (await read(await mia.post(`/hosts/${id}/wipe`))).approval;
    const wipes = await Promise.all(others.map((by) => approve(by, wipe)));
    expect(wipes.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect(await t.store.operations.count()).toBe(1);
    const mixed = await ask(mia, await makeHosts(t, 3));
    const both = await Promise.all([
      approve(others[1]!, mixed),
      others[2]!.post(`/approvals/${mixed.id}/deny`, { reason: "no" }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await left()).toBe(both[0].status === 200 ? 1 : 4);
  });
});

it("are executed once, whichever of two servers gets the approval", async () => {
  const { t, mia, left, ask } = await start({ engine: "postgres" });
  const ada = (await t.store.users.first({ where: eq("email", "ada@example.com") }))!;
  const { tables } = t.store;
  const cipher = createCipher(Buffer.alloc(32, 7));
  const store = await openPostgres({
    tables,
    url: t.databaseUrl!,
    cipher,
    log: t.services.log,
    create: true,
    poolSize: 4,
  });
  try {
    const user = await viewerOf(store, ada, null);
    const there = { ...t.services, store, user, address: "", requestId: "there" };
    for (let round = 0; round < 3; round++) {
      const asked = await ask(mia, await makeHosts(t, 70));
      const outcomes = await Promise.allSettled([
        approveAt({ ...there, store: t.store }, asked.id, approvedActs),
        approveAt(there, asked.id, approvedActs),
        approveAt({ ...there, store: t.store }, asked.id, approvedActs),
        approveAt(there, asked.id, approvedActs),
      ]);
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ status: 409 });
      expect(await left()).toBe(0);
      expect(await feed(t, "deleted_host")).toHaveLength(70 * (round + 1));
    }
  } finally {
    await store.close();
  }
});

it("are listed page by page, newest first, and only for signed-in users", async () => {
  const { t, mia, ask } = await start({});
  const ids = await makeHosts(t, 6);
  const made: number[] = [];
  for (let i = 1; i < 6; i++) made.unshift((await ask(mia, [ids[0]!, ids[i]!])).id);
  const page = async (query: string) =>
    ((await (await t.get(`/approvals?${query}`)).json()) as { approvals: Approval[] }).approvals.map(({ id }) => id);
  expect(await page("")).toEqual(made);
  expect(await page("page=1&per_page=2")).toEqual(made.slice(2, 4));
  expect(await page("order_key=id&order_direction=asc&per_page=1")).toEqual(made.slice(-1));
  expect((await t.get("/approvals?state=open")).status).toBe(400);
  for (const path of ["/approvals", `/approvals/${made[0]}`]) expect((await t.as(null).get(path)).status).toBe(401);
  expect((await t.get("/approvals/999999")).status).toBe(404);
  expect((await t.post("/approvals/999999/approve")).status).toBe(404);
});
