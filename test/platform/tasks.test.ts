import { describe, expect, it } from "vitest";
import type { Task } from "../../src/api/platform/tasks.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { days, minutes, seconds } from "../../src/server/platform/core/clock.ts";
import { backgroundIdle } from "../../src/server/platform/core/concurrency/background.ts";
import { type Context, serviceContext } from "../../src/server/platform/core/context.ts";
import { badRequest } from "../../src/server/platform/core/errors.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { StoreUnavailable } from "../../src/server/platform/store/store.ts";
import { carryOut } from "../../src/server/platform/tasks/carry-out.ts";
import { addTask, startTask } from "../../src/server/platform/tasks/queue.ts";
import { startTasks } from "../../src/server/platform/tasks/start.ts";
import type { TaskKind } from "../../src/server/platform/tasks/task.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { hostRow, makeUser } from "../support/make.ts";

const read = async (res: Response, status = 200) => {
  expect(res.status).toBe(status);
  return (await res.json()) as { task: Task; tasks: Task[] };
};
const taskOf = async (t: Pick<TestApp, "get">, id: number) => (await read(await t.get(`/tasks/${id}`))).task;

async function contextOf(t: TestApp, userId: number): Promise<Context> {
  const user = await viewerOf(t.store, (await t.store.users.get(userId))!, null);
  return { ...serviceContext(t.services), user };
}

/** Counts to `total` in steps of one, and remembers each step. */
function counting(name: string, during: (n: number) => Promise<void> | void = () => {}) {
  const steps: number[] = [];
  const ends: string[] = [];
  const kind: TaskKind<{ total: number }> = {
    name,
    async run(_ctx, task) {
      for (let n = task.progress + 1; n <= task.payload.total; n++) {
        await during(n);
        await task.step(n, async () => void steps.push(n));
      }
    },
    ended: async (_ctx, _payload, { state }) => void ends.push(state),
  };
  return { kind, steps, ends };
}
const work = (total: number) => ({ payload: { total }, total });

describe.each(bothEngines)("tasks on %s", (engine) => {
  it("are run by a server soon after the commit, one step after the other", async () => {
    const t = await startApp({ engine });
    const { kind, steps, ends } = counting("count");
    const runner = await startTasks(t.services, [kind]);
    const id = await t.store.tx((store) => addTask({ ...serviceContext(t.services), store }, kind, work(3)));
    await expect.poll(async () => (await taskOf(t, id)).state).toBe("done");
    expect([steps, ends]).toEqual([[1, 2, 3], ["done"]]);
    expect(await taskOf(t, id)).toMatchObject({ progress: 3, total: 3, requested_by: null, error: "", attempts: 0 });
    expect(await t.store.taskPayloads.count()).toBe(0);
    await runner.stop();
  });

  it("do not exist if the request's transaction is rolled back", async () => {
    const t = await startApp({ engine });
    const { kind } = counting("count");
    const failing = t.store.tx(async (store) => {
      await addTask({ ...serviceContext(t.services), store }, kind, work(3));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await t.store.tasks.count()).toBe(0);
    const beside = async () => {
      throw badRequest("no");
    };
    const begun = startTask(serviceContext(t.services), kind, work(3), 1000, beside);
    await expect(begun).rejects.toMatchObject({ status: 400 });
    expect(await t.store.tasks.count()).toBe(0);
  });

  it("continue on another server where the first one stopped, and each step is made once", async () => {
    const t = await startApp({ engine });
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const { kind, steps } = counting("count", (n) => (n === 3 ? paused : undefined));
    const first = await startTasks(t.services, [kind]);
    const id = await t.store.tx((store) => addTask({ ...serviceContext(t.services), store }, kind, work(5)));
    await expect.poll(() => steps.length).toBe(2);
    const stopping = first.stop();
    resume();
    await stopping;
    expect(await taskOf(t, id)).toMatchObject({ state: "running", progress: 2 });
    const second = await startTasks(t.services, [kind]);
    await expect.poll(async () => (await taskOf(t, id)).state).toBe("done");
    expect(steps).toEqual([1, 2, 3, 4, 5]);
    await second.stop();
  });

  it("are taken over when the lease of a dead server has expired, and not before", async () => {
    const t = await startApp({ engine });
    const { kind, steps } = counting("count");
    const ctx = serviceContext(t.services);
    const id = await t.store.tx((store) => addTask({ ...ctx, store }, kind, work(3)));
    const until = t.clock.now() + minutes(1);
    const lease = { runner: "the dead one", runner_until: new Date(until).toISOString() };
    await t.store.tasks.update({ where: eq("id", id), set: { state: "running", progress: 1, ...lease } });
    const dead = { ...(await t.store.tasks.get(id))!, ...lease };
    const look = async () => {
      const runner = await startTasks(
        { ...t.services, store: Object.create(t.store, { engine: { value: "postgres" } }) },
        [kind],
      );
      await runner.stop();
    };
    await look();
    expect(steps).toEqual([]);
    t.clock.advance(minutes(1));
    const runner = await startTasks(t.services, [kind]);
    await expect.poll(async () => (await taskOf(t, id)).state).toBe("done");
    await runner.stop();
    expect(steps).toEqual([2, 3]);
    // The first server was not dead after all: it writes nothing any more.
    expect(await carryOut(ctx, kind as TaskKind<unknown>, dead, new AbortController().signal)).toEqual({
      state: "later",
    });
    expect(steps).toEqual([2, 3]);
    expect(await taskOf(t, id)).toMatchObject({ state: "done", progress: 3 });
  });

  it("go on although the clock was ahead when their server died, or when an attempt failed", async () => {
    const t = await startApp({ engine });
    const { kind, ends } = counting("count");
    const ctx = serviceContext(t.services);
    const later = new Date(t.clock.now() + days(3650)).toISOString();
    const lost = { state: "running", runner: "the dead one", runner_until: later } as const;
    for (const set of [lost, { retry_at: later }]) {
      const id = await t.store.tx((store) => addTask({ ...ctx, store }, kind, work(1)));
      await t.store.tasks.update({ where: eq("id", id), set });
    }
    // An embedded store would end the leases that are found at the start.
    const store = Object.create(t.store, { engine: { value: "postgres" } });
    const runner = await startTasks({ ...t.services, store }, [kind]);
    await expect.poll(() => ends).toEqual(["done", "done"]);
    await runner.stop();
  });

  it("are tried again after a failure, with growing pauses, from the last step", async () => {
    const t = await startApp({ engine });
    let failures = 2;
    const { kind, steps } = counting("count", (n) => {
      if (n === 2 && failures-- > 0) throw new StoreUnavailable("the store is away");
    });
    const ctx = serviceContext(t.services);
    expect(await startTask(ctx, kind, work(2), 10_000)).toEqual({ outcome: "goes on", taskId: 1 });
    expect(await taskOf(t, 1)).toMatchObject({
      state: "running",
      attempts: 1,
      error: "the store is away",
      progress: 1,
    });
    const look = async () => {
      const runner = await startTasks(t.services, [kind]);
      await runner.stop();
    };
    await look();
    expect(await taskOf(t, 1)).toMatchObject({ attempts: 1 });
    t.clock.advance(seconds(2));
    const runner = await startTasks(t.services, [kind]);
    await expect.poll(async () => (await taskOf(t, 1)).attempts).toBe(2);
    t.clock.advance(seconds(4));
    await t.store.notify("svc_tasks", "");
    await expect.poll(async () => (await taskOf(t, 1)).state).toBe("done");
    expect(steps).toEqual([1, 2]);
    await runner.stop();
  });

  it("fail for good if repeating would not help, and tell the request that waits", async () => {
    const t = await startApp({ engine });
    const { kind, ends } = counting("count", (n) => {
      if (n === 2) throw badRequest("this cannot be done", "name");
    });
    const begun = startTask(serviceContext(t.services), kind, work(2), 10_000);
    await expect(begun).rejects.toMatchObject({ status: 400 });
    expect(await taskOf(t, 1)).toMatchObject({ state: "failed", error: "this cannot be done", progress: 1 });
    expect(ends).toEqual(["failed"]);
  });

  it("run with the current roles of the requester, and fail if that user is gone", async () => {
    const t = await startApp({ engine });
    const mia = await makeUser(t, "maintainer");
    const { kind } = counting("count");
    let role: unknown;
    const asking: TaskKind<{ total: number }> = {
      ...kind,
      async run(ctx) {
        role = ctx.user.global_role;
      },
    };
    const ctx = await contextOf(t, mia.id);
    const first = await t.store.tx((store) => addTask({ ...ctx, store }, asking, work(1)));
    await t.store.users.update({ where: eq("id", mia.id), set: { global_role: "observer" } });
    const runner = await startTasks(t.services, [asking]);
    await expect.poll(async () => (await taskOf(t, first)).state).toBe("done");
    expect(role).toBe("observer");
    await runner.stop();
    const second = await t.store.tx((store) => addTask({ ...ctx, store }, asking, work(1)));
    await t.store.users.delete(eq("id", mia.id));
    const next = await startTasks(t.services, [asking]);
    await expect.poll(async () => (await taskOf(t, second)).state).toBe("failed");
    expect(await taskOf(t, second)).toMatchObject({
      error: expect.stringContaining("is gone"),
      requested_by: { id: null, email: ctx.user.email },
    });
    await next.stop();
  });

  it("go on with the new roles of a requester whose roles change meanwhile, and end if the user is deleted", async () => {
    const t = await startApp({ engine });
    const mia = await makeUser(t, "maintainer");
    const roles: unknown[] = [];
    const { kind, steps } = counting("count", async (n) => {
      if (n === 3) await t.store.users.update({ where: eq("id", mia.id), set: { global_role: "observer" } });
      if (n === 5) await t.store.users.delete(eq("id", mia.id));
    });
    const noting: TaskKind<{ total: number }> = {
      ...kind,
      async run(ctx, task) {
        roles.push(ctx.user.global_role);
        await kind.run(ctx, task);
      },
    };
    const ctx = await contextOf(t, mia.id);
    const id = await t.store.tx((store) => addTask({ ...ctx, store }, noting, work(6)));
    const runner = await startTasks(t.services, [noting]);
    await expect.poll(async () => (await taskOf(t, id)).state).toBe("failed");
    expect([steps, roles]).toEqual([
      [1, 2, 3, 4],
      ["maintainer", "observer"],
    ]);
    expect(await taskOf(t, id)).toMatchObject({ progress: 4, error: expect.stringContaining("is gone") });
    await runner.stop();
  });

  it("are shown to their requesters and to global admins, who can cancel them", async () => {
    const t = await startApp({ engine });
    const [mia, ola] = [await makeUser(t, "maintainer"), await makeUser(t, "maintainer")];
    let resume = () => {};
    const paused = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const { kind, steps, ends } = counting("count", (n) => (n === 3 ? paused : undefined));
    const begun = await startTask(await contextOf(t, mia.id), kind, work(5), 0);
    expect(begun).toEqual({ outcome: "goes on", taskId: 1 });
    await expect.poll(() => steps.length).toBe(2);
    expect((await read(await mia.get("/tasks?state=running&kind=count"))).tasks).toMatchObject([
      { id: 1, state: "running", progress: 2, total: 5, requested_by: { id: mia.id } },
    ]);
    expect((await read(await t.get("/tasks"))).tasks).toHaveLength(1);
    expect((await read(await ola.get("/tasks"))).tasks).toEqual([]);
    expect((await ola.get("/tasks/1")).status).toBe(404);
    expect((await ola.post("/tasks/1/cancel")).status).toBe(404);
    expect((await mia.get("/tasks?state=nothing")).status).toBe(400);

    for (const one of await Promise.all([mia.post("/tasks/1/cancel"), t.post("/tasks/1/cancel")]))
      expect((await read(one)).task).toMatchObject({ cancel_requested: true });
    expect((await read(await mia.post("/tasks/1/cancel"))).task).toMatchObject({ cancel_requested: true });
    resume();
    await backgroundIdle(t.services);
    expect(await taskOf(mia, 1)).toMatchObject({ state: "cancelled", progress: 2, error: "" });
    expect([steps, ends]).toEqual([[1, 2], ["cancelled"]]);
    expect((await mia.post("/tasks/1/cancel")).status).toBe(409);
    expect(await t.store.activities.count(eq("type", "canceled_task"))).toBe(1);
  });

  it("are forgotten a month after their end", async () => {
    const t = await startApp({ engine });
    const { kind } = counting("count");
    await startTask(serviceContext(t.services), kind, work(1), 10_000);
    t.clock.advance(days(29));
    await runJob(t.services, "task_cleanup");
    expect(await t.store.tasks.count()).toBe(1);
    t.clock.advance(days(2));
    await runJob(t.services, "task_cleanup");
    expect(await t.store.tasks.count()).toBe(0);
  });

  it("let a long one of one kind not delay another kind", async () => {
    const t = await startApp({ engine });
    const never = new Promise<void>(() => {});
    const stop = new AbortController();
    const slow = counting("slow", () =>
      Promise.race([
        never,
        new Promise<void>((_, no) => stop.signal.addEventListener("abort", () => no(new Error("end")))),
      ]),
    );
    const quick = counting("quick");
    const ctx = serviceContext(t.services);
    await t.store.tx(async (store) => {
      for (let i = 0; i < 20; i++) await addTask({ ...ctx, store }, slow.kind, work(1));
      await addTask({ ...ctx, store }, quick.kind, work(1));
    });
    const runner = await startTasks(t.services, [slow.kind, quick.kind]);
    await expect.poll(() => quick.ends).toEqual(["done"]);
    stop.abort();
    await runner.stop();
  });
});

it("a bulk delete is one: its reply names the task if it takes longer than a request", async () => {
  const t = await startApp();
  const now = t.clock.iso();
  await t.store.hosts.insertMany(Array.from({ length: 130 }, () => hostRow(now)));
  const done = await t.post("/hosts/delete", { filters: {} });
  expect([done.status, await done.json()]).toEqual([200, {}]);
  expect(await t.store.hosts.count()).toBe(0);
  expect(await taskOf(t, 1)).toMatchObject({ kind: "delete_hosts", state: "done", progress: 130, total: 130 });
  const tried = await t.request("POST", "/hosts/delete", { filters: {} }, { "dry-run": "true" });
  expect(tried.status).toBe(200);
  expect(await t.store.tasks.count()).toBe(1);
});
