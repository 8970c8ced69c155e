// Actions on many hosts: which hosts they reach, what is left out, and what can be read of it afterwards.
import { describe, expect, it } from "vitest";
import type { Role } from "../../src/api/access.ts";
import type { Approval } from "../../src/api/hosts/approvals.ts";
import { selectionOf } from "../../src/api/hosts/selection-digest.ts";
import type { BulkOutcome } from "../../src/api/inventory/bulk-actions.ts";
import type { Task, TaskHost } from "../../src/api/platform/tasks.ts";
import { bulkTasks } from "../../src/server/inventory/bulk-actions/kinds.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import { eq, everything } from "../../src/server/platform/store/query.ts";
import { addTask } from "../../src/server/platform/tasks/queue.ts";
import { startTasks } from "../../src/server/platform/tasks/start.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { hostRow, makeHost, makeTeam, makeUser } from "../support/make.ts";
import { reasonOf } from "../support/replies.ts";

type Reply = BulkOutcome & { approval?: Approval };

async function act(by: Caller, path: string, body: object, headers: Record<string, string> = {}) {
  const res = await by.request("POST", path, body, headers);
  expect(res.status, await res.clone().text()).toBeLessThan(300);
  return { status: res.status, ...((await res.json()) as Reply) };
}
const dry = { "Dry-Run": "true" };

/** Ids of Linux hosts with an agent, which runs scripts. */
async function managed(t: TestApp, count: number, team_id: number | null = null): Promise<number[]> {
  const rows = Array.from({ length: count }, (_, i) =>
    hostRow(t.clock.iso(), { team_id, platform: "ubuntu", display_name: `box-${i}` }),
  );
  const ids = (await t.store.hosts.insertMany(rows)).map(({ id }) => id);
  await t.store.managedAgents.insertMany(
    ids.map((id) => ({ id, agent_key_hash: `of ${id}`, enrolled_at: t.clock.iso() })),
  );
  return ids;
}
async function manualLabel(t: TestApp, name: string, host_ids: readonly number[] = []): Promise<{ id: number }> {
  const res = await t.post("/labels", { name, host_ids });
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { label: { id: number } }).label;
}
const feed = (t: TestApp, type: string) => t.store.activities.list({ where: eq("type", type) });
const hostsOf = async (by: Pick<Caller, "get">, taskId: number, query = "") => {
  const res = await by.get(`/tasks/${taskId}/hosts${query}`);
  expect(res.status).toBe(200);
  return (await res.json()) as { hosts: TaskHost[]; count: number };
};
const seen = async (ids: readonly number[]) => {
  const { count, digest } = await selectionOf(ids);
  return { "x-expected-count": String(count), "x-selection-digest": digest };
};

describe.each(bothEngines)("actions on many hosts, on %s", (engine) => {
  it("lock those that can be locked, and leave out the others with the reason", async () => {
    const t = await startApp({ engine });
    const ids = await managed(t, 60);
    const bare = await makeHost(t, { platform: "ubuntu", display_name: "bare-1" });
    const bare2 = await makeHost(t, { platform: "ubuntu", display_name: "bare-2" });
    const chrome = await makeHost(t, { platform: "chrome" });
    expect((await t.post(`/hosts/${ids[3]}/lock`)).status).toBe(200);
    const body = { filters: {}, reason: "stolen van" };
    const would = await act(t, "/hosts/lock", body, dry);
    expect(would).toMatchObject({ count: 63, done: 59, skipped: 4 });
    expect(would.task_id).toBeNull();
    expect(await t.store.operations.count(eq("kind", "lock"))).toBe(1);
    expect([await t.store.tasks.count(), await t.store.taskHosts.count()]).toEqual([0, 0]);

    const { status, task_id, ...done } = await act(t, "/hosts/lock", body);
    expect(status).toBe(200);
    expect({ ...done, status, task_id: null }).toEqual(would);
    expect(done.hosts.map(({ id }) => id)).toEqual([...ids.slice(0, 3), ...ids.slice(4, 11)]);
    expect(done.skipped_reasons).toEqual([
      {
        reason: "the host has no managed agent, which runs scripts",
        count: 2,
        hosts: [
          { id: bare.id, display_name: "bare-1" },
          { id: bare2.id, display_name: "bare-2" },
        ],
      },
      {
        reason: "lock is not supported on the platform 'chrome'",
        count: 1,
        hosts: [{ id: chrome.id, display_name: chrome.display_name }],
      },
      {
        reason: "the host has a pending lock request: wait for it, or cancel it",
        count: 1,
        hosts: [{ id: ids[3], display_name: "box-3" }],
      },
    ]);
    const locked = await t.store.operations.list({ where: eq("kind", "lock") });
    expect(new Set(locked.map(({ host_id }) => host_id)).size).toBe(60);
    expect(locked).toHaveLength(60);
    const activities = await feed(t, "locked_host");
    expect(activities).toHaveLength(60);
    expect(activities.at(-1)!.details).toMatchObject({ view_pin: false, reason: "stolen van" });

    const task = ((await (await t.get(`/tasks/${task_id}`)).json()) as { task: Task }).task;
    expect(task).toMatchObject({ kind: "lock_hosts", state: "done", progress: 63, total: 63 });
    expect((await hostsOf(t, task_id!)).count).toBe(63);
    const skipped = await hostsOf(t, task_id!, "?outcome=skipped&per_page=1&page=1");
    expect(skipped).toMatchObject({ count: 4, hosts: [{ id: bare.id, outcome: "skipped" }] });
    const reason = encodeURIComponent("lock is not supported on the platform 'chrome'");
    expect((await hostsOf(t, task_id!, `?reason=${reason}`)).hosts.map(({ id }) => id)).toEqual([chrome.id]);
    const mia = await makeUser(t, "maintainer");
    expect((await mia.get(`/tasks/${task_id}/hosts`)).status, "the task of another user").toBe(404);
  });

  it("can be taken back as long as hosts have not begun: operations are found by their task", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const [first, second, other] = (await managed(t, 3)) as [number, number, number];
    await t.store.hosts.updateEach([{ id: second, team_id: team.id }]);
    expect((await t.post(`/hosts/${other}/lock`)).status).toBe(200);
    const { task_id } = await act(t, "/hosts/lock", { ids: [first, second] });
    const hostsWaiting = async (by: Pick<Caller, "get">) => {
      const res = await by.get(`/operations?task_id=${task_id}&state=queued`);
      const { operations } = (await res.json()) as { operations: { host: { id: number } }[] };
      return operations.map(({ host }) => host.id).sort((a, b) => a - b);
    };
    expect(await hostsWaiting(t)).toEqual([first, second]);
    const tia = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    expect(await hostsWaiting(tia), "only hosts of the caller's teams").toEqual([second]);
    expect((await tia.post("/operations/cancel", { filters: { task_id } })).status).toBe(403);
    const references = (await hostsOf(t, task_id!)).hosts.map(({ reference }) => reference);
    const uuids = (await t.store.operations.list({ where: eq("kind", "lock") })).map(({ uuid }) => uuid);
    expect(uuids).toEqual(expect.arrayContaining(references));
    const res = await t.post("/operations/cancel", { filters: { task_id } });
    expect(((await res.json()) as { cancelled: number[] }).cancelled).toHaveLength(2);
    expect(await hostsWaiting(t)).toEqual([]);
    const states = await t.store.hostActions.getMany([first, second, other]);
    expect(states.map(({ pending }) => pending)).toEqual(["", "", "lock"]);
  });

  it("unlock what is locked, each with its activity", async () => {
    const t = await startApp({ engine });
    const ids = await managed(t, 3);
    await t.store.hostActions.upsert(
      ids.slice(0, 2).map((id) => ({ id, locked: true })),
      { on: ["id"] },
    );
    expect(await act(t, "/hosts/unlock", { ids })).toMatchObject({ count: 3, done: 2 });
    expect(await feed(t, "unlocked_host")).toHaveLength(2);
  });

  it("do nothing if the selection has changed since it was seen", async () => {
    const t = await startApp({ engine });
    const ids = await managed(t, 4);
    const label = await manualLabel(t, "Loaners");
    for (const [path, more] of [
      ["/hosts/lock", {}],
      ["/hosts/wipe", {}],
      ["/hosts/unlock", {}],
      ["/hosts/refetch", {}],
      ["/hosts/labels", { add: [label.id] }],
    ] as const)
      for (const choice of [{ ids }, { filters: {} }]) {
        const res = await t.request("POST", path, { ...choice, ...more }, await seen(ids.slice(1)));
        expect([path, res.status]).toEqual([path, 409]);
        expect(await reasonOf(res)).toBe("the selection changed: expected 3 hosts, found 4");
        const same = await act(t, path, { ...choice, ...more }, { ...(await seen(ids)), ...dry });
        expect(same.count).toBe(4);
      }
    expect(await t.store.tasks.count()).toBe(0);
    expect(await t.store.operations.count()).toBe(0);
  });

  it("wipe after the approval of another user: one for the whole selection", async () => {
    const t = await startApp({ engine, settings: { require_approval: true, wipes_per_hour: 60 } });
    const mia = await makeUser(t, "maintainer", { name: "Mia", email: "mia@example.com" });
    const ids = await managed(t, 55);
    await makeHost(t, { platform: "chrome" });
    const body = { filters: {}, reason: "office closed", windows: { wipe_type: "doWipe" } };
    const would = await act(mia, "/hosts/wipe", body, dry);
    expect(would).toMatchObject({ status: 202, count: 56, done: 55, skipped: 1, approval: { hosts_count: 56 } });
    const requested = await act(mia, "/hosts/wipe", body);
    expect(requested).toMatchObject({ status: 202, count: 56, done: 0, approval: { action: "wipe_hosts" } });
    const { id } = requested.approval!;
    expect([await t.store.operations.count(), await t.store.tasks.count()]).toEqual([0, 0]);
    const { digest } = await selectionOf([...ids, ids.at(-1)! + 1]);
    const shown = ((await (await t.get(`/approvals/${id}`)).json()) as { approval: Approval }).approval;
    expect(shown).toMatchObject({
      request_reason: "office closed",
      hosts_count: 56,
      selection_digest: digest,
      may_decide: true,
    });
    expect((await mia.post(`/approvals/${id}/approve`)).status).toBe(403);
    const approved = await t.post(`/approvals/${id}/approve`);
    expect(approved.status).toBe(200);
    const { approval } = (await approved.json()) as { approval: Approval };
    expect(approval.state).toBe("done");
    const wipes = await t.store.operations.list({ where: eq("kind", "wipe") });
    expect(wipes).toHaveLength(55);
    expect(new Set(wipes.map(({ user_id }) => user_id))).toEqual(new Set([mia.id]));
    expect((await feed(t, "wiped_host"))[0]).toMatchObject({
      actor_email: "mia@example.com",
      details: { reason: "office closed" },
    });
    expect(await hostsOf(mia, approval.task_id!, "?outcome=skipped")).toMatchObject({ count: 1 });
    // All 56 were charged: five more are beyond the budget.
    const ask = await act(mia, "/hosts/wipe", { ids: await managed(t, 5) });
    const beyond = await t.post(`/approvals/${ask.approval!.id}/approve`);
    expect(beyond.status).toBe(429);
    expect(await t.store.operations.count(eq("kind", "wipe"))).toBe(55);
  });

  it("add hosts to labels, remove them from others, and request all details", async () => {
    const t = await startApp({ engine });
    const ids = await managed(t, 3);
    const [loaners, old] = [await manualLabel(t, "Loaners"), await manualLabel(t, "Old", ids.slice(0, 2))];
    const done = await act(t, "/hosts/labels", { ids, add: ["Loaners"], remove: [old.id] });
    expect(done).toMatchObject({ count: 3, done: 3, skipped: 0 });
    expect(await t.store.labelMembers.count(eq("label_id", loaners.id))).toBe(3);
    expect(await t.store.labelMembers.count(eq("label_id", old.id))).toBe(0);
    expect((await feed(t, "edited_host_labels")).map(({ details }) => details)).toMatchObject([
      { host_id: ids[0], added: ["Loaners"], removed: ["Old"] },
      { host_id: ids[1], added: ["Loaners"], removed: ["Old"] },
      { host_id: ids[2], added: ["Loaners"], removed: [] },
    ]);
    await t.store.hosts.update({ where: everything, set: { refetch_requested: false } });
    await act(t, "/hosts/refetch", { filters: { where: `id = ${ids[1]}` } });
    const requested = await t.store.hosts.pick(["id"], { where: eq("refetch_requested", true) });
    expect(requested).toEqual([{ id: ids[1] }]);
  });
});

describe.each(rulesEngines)("actions on many hosts, on %s", (engine) => {
  it("are charged to the budget before anything is wiped", async () => {
    const t = await startApp({ engine, settings: { wipes_per_hour: 2 } });
    const ids = await managed(t, 3);
    const refused = await t.post("/hosts/wipe", { ids });
    expect([refused.status, await reasonOf(refused)]).toEqual([429, expect.stringContaining("3 at once")]);
    expect((await t.request("POST", "/hosts/wipe", { ids }, dry)).status, "a dry run says it").toBe(429);
    expect(await t.store.tasks.count()).toBe(0);
    expect(await act(t, "/hosts/wipe", { ids: ids.slice(1) })).toMatchObject({ done: 2 });
    expect((await t.post(`/hosts/${ids[0]}/wipe`)).status).toBe(429);
  });

  it("reach the hosts of the teams on which the caller may do it", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const mine = await managed(t, 2, own.id);
    const theirs = await managed(t, 2, other.id);
    const label = await manualLabel(t, "Loaners");
    const paths = ["/hosts/refetch", "/hosts/labels", "/hosts/lock", "/hosts/wipe"] as const;
    const may: Record<Role, string> = {
      admin: "rlLw",
      maintainer: "rlLw",
      technician: "rl",
      observer: "r",
      observer_plus: "r",
      gitops: "l",
      plan: "",
    };
    for (const [role, letters] of Object.entries(may))
      for (const scope of ["global", "team"] as const) {
        const user = await makeUser(
          t,
          scope === "global" ? (role as Role) : { teams: [{ id: own.id, role: role as Role }] },
        );
        for (const [i, path] of paths.entries()) {
          const more = path === "/hosts/labels" ? { add: [label.id] } : {};
          const ask = (choice: object) => user.request("POST", path, { ...choice, ...more }, dry);
          const allowed = letters.includes("rlLw"[i]!);
          const where = `${scope} ${role} ${path}`;
          const all = await ask({ filters: {} });
          expect([where, all.status]).toEqual([where, allowed ? 200 : 403]);
          if (allowed) expect(((await all.json()) as Reply).count, where).toBe(scope === "global" ? 4 : 2);
          expect((await ask({ ids: mine })).status, where).toBe(allowed ? 200 : 403);
          const foreign = (await ask({ ids: [...mine, ...theirs] })).status;
          expect(foreign, where).toBe(allowed ? (scope === "global" ? 200 : 404) : 403);
        }
      }
    const both = await makeUser(t, {
      teams: [
        { id: own.id, role: "maintainer" },
        { id: other.id, role: "observer" },
      ],
    });
    expect((await both.post("/hosts/lock", { ids: [...mine, ...theirs] })).status).toBe(403);
    expect(await act(both, "/hosts/lock", { filters: {} })).toMatchObject({ count: 2, done: 2 });
  });

  it("refuse bad input as a whole", async () => {
    const t = await startApp({ engine });
    const [id] = await managed(t, 1);
    const label = await manualLabel(t, "Loaners");
    for (const [path, body, status, name] of [
      ["/hosts/lock", {}, 400, "base"],
      ["/hosts/lock", { ids: [id], filters: {} }, 400, "base"],
      ["/hosts/lock", { ids: [id], view_pin: true }, 400, "view_pin"],
      ["/hosts/lock", { filters: { where: "label in (Typo)" } }, 400, "where"],
      ["/hosts/wipe", { ids: [id, 999_999] }, 404, "base"],
      ["/hosts/labels", { ids: [id] }, 422, "add"],
      ["/hosts/labels", { ids: [id], add: ["Typo"] }, 400, "add"],
      ["/hosts/labels", { ids: [id], add: ["Loaners"], remove: [999_999] }, 400, "remove"],
      ["/hosts/labels", { ids: [id], add: ["Loaners"], remove: [label.id] }, 422, "remove"],
    ] as const) {
      const res = await t.post(path, body);
      const { errors } = (await res.json()) as { errors: { name: string }[] };
      expect([path, body, res.status, errors[0]!.name]).toEqual([path, body, status, name]);
    }
    expect(await t.store.tasks.count()).toBe(0);
    expect(await act(t, "/hosts/lock", { ids: [] })).toMatchObject({ status: 200, count: 0, done: 0 });
    const free = await startApp({ engine, tier: "free" });
    const [host] = await managed(free, 1);
    for (const [path, status] of [
      ["/hosts/lock", 402],
      ["/hosts/unlock", 402],
      ["/hosts/wipe", 200],
      ["/hosts/refetch", 200],
    ] as const)
      expect([path, (await free.post(path, { ids: [host] })).status]).toEqual([path, status]);
  });

  it("need the selection that was seen if the server requires it", async () => {
    const t = await startApp({ engine, settings: { require_expected_count: true } });
    const ids = await managed(t, 2);
    expect((await t.post("/hosts/lock", { ids })).status).toBe(428);
    expect(await act(t, "/hosts/lock", { ids }, await seen(ids))).toMatchObject({ done: 2 });
  });

  it("skip hosts that were deleted or moved in the meantime, with the reason", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const mia = await makeUser(t, { teams: [{ id: own.id, role: "maintainer" }] });
    const [gone, moved, there] = (await managed(t, 3, own.id)) as [number, number, number];
    const user = await viewerOf(t.store, (await t.store.users.get(mia.id))!, null);
    const ctx = { ...serviceContext(t.services), user };
    const payload = { ids: [gone, moved, there], options: {} };
    await t.store.hosts.delete(eq("id", gone));
    await t.store.hosts.updateEach([{ id: moved, team_id: other.id }]);
    const id = await t.store.tx((store) => addTask({ ...ctx, store }, bulkTasks.lock, { payload, total: 3 }));
    const runner = await startTasks(t.services, [bulkTasks.lock]);
    const stateOf = async () => (await t.store.tasks.get(id))!.state;
    await expect.poll(stateOf).toBe("done");
    await runner.stop();
    const reason = "the host was deleted, or is in a team that you do not see";
    expect((await hostsOf(mia, id)).hosts).toMatchObject([
      { id: gone, display_name: "", outcome: "skipped", reason },
      { id: moved, outcome: "skipped", reason },
      { id: there, outcome: "done", reason: "" },
    ]);
    expect((await t.store.operations.list()).map(({ host_id }) => host_id)).toEqual([there]);
  });
});
