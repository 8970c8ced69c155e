import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import type { OperationContent } from "../../src/server/hosts/operations/contents.ts";
import { type Choose, nextOperation, postponeOperation } from "../../src/server/hosts/operations/device-queue.ts";
import { type Ending, HOST_LANE, type OperationKind, operationKinds } from "../../src/server/hosts/operations/kind.ts";
import {
  addOperations,
  answerOperation,
  openOperations,
  sendOperation,
  settleOverdue,
} from "../../src/server/hosts/operations/queue.ts";
import type { ScriptResult } from "../../src/server/hosts/operations/tables.ts";
import { days, hours, seconds } from "../../src/server/platform/core/clock.ts";
import { type Context, serviceContext } from "../../src/server/platform/core/context.ts";
import { Extensions, implementedBy } from "../../src/server/platform/core/extensions.ts";
import { downloadOf, Uploads } from "../../src/server/platform/files/service.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makeOperation } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";

const idle = new AbortController().signal;
const answer = { exit_code: 0, output: "", runtime: 1 };

/** A kind that remembers how its operations ended. */
function counting(name: string, more: Partial<OperationKind<ScriptResult>> = {}) {
  const ends: Ending["state"][] = [];
  const kind: OperationKind<ScriptResult> = {
    name,
    priority: 10,
    attempts: 1,
    title: name,
    isCancellableOnceSent: true,
    isDone: ({ exit_code }) => exit_code === 0,
    lane: HOST_LANE,
    expires: true,
    ended: async (_inside, _operation, { state }) => void ends.push(state),
    ...more,
  };
  return { kind, ends };
}

/** A context that knows these kinds too. */
const knowing = (t: TestApp, ...kinds: readonly OperationKind[]): Context => {
  const ctx = serviceContext(t.services);
  const { lists } = ctx.extensions;
  const all = [...ctx.extensions.of(operationKinds), ...kinds];
  return { ...ctx, extensions: new Extensions([...lists, implementedBy(operationKinds, ...all)]) };
};
const add = (ctx: Context, kind: OperationKind, hostIds: readonly number[], content: OperationContent = "true") =>
  ctx.store.tx((store) => addOperations({ ...ctx, store }, kind, { hostIds, content, timeout: 60 }));
const stateOf = async (t: TestApp, uuid: string) =>
  (await t.store.operations.first({ where: eq("uuid", uuid) }))?.state;

describe.each(bothEngines)("operations on %s", (engine) => {
  it("store a content once, however many hosts get it, and delete it when nothing refers to it", async () => {
    const t = await startApp({ engine });
    const { kind } = counting("big");
    const ctx = knowing(t, kind);
    const hosts = await Promise.all(Array.from({ length: 20 }, () => makeHost(t)));
    const content = "x".repeat(100_000);
    await add(
      ctx,
      kind,
      hosts.map(({ id }) => id),
      content,
    );
    await Promise.all(hosts.slice(0, 5).map(({ id }) => add(ctx, kind, [id], content)));
    expect([await t.store.operations.count(), await t.store.operationContents.count()]).toEqual([25, 1]);
    t.clock.advance(days(2));
    await runJob({ ...t.services, extensions: ctx.extensions }, "operations");
    expect(await t.store.operationContents.count()).toBe(1);
    await t.store.operations.delete({ op: "all" });
    await runJob({ ...t.services, extensions: ctx.extensions }, "operations");
    expect(await t.store.operationContents.count()).toBe(0);
  });

  it("keep a file as long as one of them needs it", async () => {
    const t = await startApp({ engine });
    const { kind } = counting("install");
    const ctx = knowing(t, kind);
    const services = { ...t.services, extensions: ctx.extensions };
    const cleanUp = async () => {
      t.clock.advance(days(2));
      await runJob(services, "operations");
      await runJob(services, "file_cleanup");
      return [await t.store.operationContents.count(), await t.store.files.count()];
    };
    const bytes = Buffer.from("a package");
    const [used, unused] = await Promise.all(
      [bytes, Buffer.from("another package")].map((content) =>
        new Uploads(services).store(Readable.from([content]), 100),
      ),
    );
    const hosts = await Promise.all(Array.from({ length: 3 }, () => makeHost(t)));
    const ids = hosts.map(({ id }) => id);
    const [operation] = await add(ctx, kind, ids, used);
    // The bytes of a package as a text are another content.
    await add(ctx, kind, ids, "a package");
    expect(await t.store.operationContents.count()).toBe(2);
    expect(await cleanUp()).toEqual([2, 1]);
    expect(await t.store.files.get(unused!.id)).toBeNull();

    const { content, fileId } = await sendOperation(ctx, ids[0]!, operation!.uuid);
    expect([content, fileId]).toEqual(["", used!.id]);
    const { open } = await downloadOf(services, fileId!);
    expect(await buffer(await open({ start: 0, end: bytes.length - 1 }))).toEqual(bytes);

    await t.store.operations.delete({ op: "all" });
    expect(await cleanUp()).toEqual([0, 0]);
  });

  it("go to a host one at a time, in the order of priority and age", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const uuids: string[] = [];
    for (let n = 0; n < 3; n++) uuids.push((await makeOperation(t, id, { content: `script ${n}` })).uuid);
    await t.store.notify("svc_hosts", "*");
    expect(await agent.pending()).toEqual([uuids[0]]);
    expect((await agent.call("/scripts/request", { execution_id: uuids[1] })).status).toBe(404);
    expect((await agent.call("/scripts/request", { execution_id: uuids[0] })).json.script_contents).toBe("script 0");
    expect(await agent.pending()).toEqual([uuids[0]]);
    // A lock does not wait for the script that runs.
    await t.post(`/hosts/${id}/lock`);
    const [lock] = await agent.pending();
    expect(uuids).not.toContain(lock);
    await agent.runScript();
    await agent.call("/scripts/result", { execution_id: uuids[0], ...answer });
    expect(await agent.pending()).toEqual([uuids[1]]);
    const upcoming = (await (await t.get(`/hosts/${id}/activities/upcoming`)).json()) as { count: number };
    expect(upcoming.count).toBe(2);
  });

  it("take an answer once, whichever server gets it", async () => {
    const t = await startApp({ engine });
    const { kind, ends } = counting("once");
    const ctx = knowing(t, kind);
    const { id } = await makeHost(t);
    const [operation] = await add(ctx, kind, [id]);
    await sendOperation(ctx, id, operation!.uuid);
    await Promise.all(Array.from({ length: 6 }, () => answerOperation(ctx, id, operation!.uuid, answer)));
    await answerOperation(ctx, id, operation!.uuid, { ...answer, exit_code: 1 });
    expect(ends).toEqual(["answered"]);
    expect(await stateOf(t, operation!.uuid)).toBe("answered");
  });

  it("are sent again if the host does not answer in time, and expire after the last attempt", async () => {
    const t = await startApp({ engine });
    const { kind, ends } = counting("again", { attempts: 2 });
    const ctx = knowing(t, kind);
    const { id } = await makeHost(t);
    const [operation] = await add(ctx, kind, [id]);
    const uuid = operation!.uuid;
    const late = seconds(60) + hours(1);
    await sendOperation(ctx, id, uuid);
    t.clock.advance(late - 1);
    // Asking again before the answer is not another attempt.
    await sendOperation(ctx, id, uuid);
    expect(await settleOverdue(ctx, idle)).toBe(0);
    t.clock.advance(1);
    expect(await settleOverdue(ctx, idle)).toBe(1);
    expect(await stateOf(t, uuid)).toBe("queued");
    t.clock.advance(days(30));
    expect(await settleOverdue(ctx, idle), "the host is offline: it waits").toBe(0);
    await sendOperation(ctx, id, uuid);
    t.clock.advance(late);
    const both = await Promise.all([settleOverdue(ctx, idle), settleOverdue(ctx, idle)]);
    expect(both[0] + both[1]).toBe(1);
    expect([await stateOf(t, uuid), ends, await openOperations(t.store, [id])]).toEqual(["expired", ["expired"], []]);
    await answerOperation(ctx, id, uuid, answer);
    expect([await stateOf(t, uuid), ends]).toEqual(["answered", ["expired", "answered"]]);
  });

  it("are in the lane of their kind: each lane has its own order, and knows nothing of the others", async () => {
    const t = await startApp({ engine });
    const script = counting("script of the agent");
    const device = counting("command", { lane: "device", expires: false });
    const ctx = knowing(t, script.kind, device.kind);
    const { id } = await makeHost(t);
    const [run] = await add(ctx, script.kind, [id]);
    const [first] = await add(ctx, device.kind, [id], "first");
    const [second] = await add(ctx, device.kind, [id], "second");
    await sendOperation(ctx, id, run!.uuid);
    expect((await nextOperation(ctx, id, "device"))?.content).toBe("first");
    expect((await nextOperation(ctx, id, "device"))?.content, "not answered: sent again").toBe("first");
    await expect(answerOperation(ctx, id, first!.uuid, answer)).rejects.toMatchObject({ status: 404 });
    await expect(sendOperation(ctx, id, second!.uuid)).rejects.toMatchObject({ status: 404 });
    await answerOperation(ctx, id, first!.uuid, answer, "device");
    expect((await nextOperation(ctx, id, "device"))?.content).toBe("second");
    t.clock.advance(days(60));
    expect(await settleOverdue(ctx, idle), "only the script has expired").toBe(1);
    expect([script.ends, device.ends]).toEqual([["expired"], ["answered"]]);
    expect((await nextOperation(ctx, id, "device"))?.content).toBe("second");
    await answerOperation(ctx, id, second!.uuid, answer, "device");
    expect(await nextOperation(ctx, id, "device")).toBeNull();
  });

  it("wait in their place when a device postpones them, and the others go on", async () => {
    const t = await startApp({ engine });
    const device = counting("command", { lane: "device", expires: false });
    const urgent = counting("urgent", { lane: "device", expires: false, priority: 0 });
    const ctx = knowing(t, device.kind, urgent.kind);
    const { id } = await makeHost(t);
    const [first] = await add(ctx, device.kind, [id], "first");
    await add(ctx, device.kind, [id], "second");
    await nextOperation(ctx, id, "device");
    await postponeOperation(ctx, id, first!.id);
    expect(await t.store.operations.get(first!.id)).toMatchObject({ state: "queued", attempts: 0 });
    const others: Choose = async (_, open) => (await open).find(({ id }) => id !== first!.id);
    expect((await nextOperation(ctx, id, "device", others))?.content).toBe("second");
    await add(ctx, urgent.kind, [id], "urgent");
    expect((await nextOperation(ctx, id, "device", others))?.content, "a lock does not wait").toBe("urgent");
    await t.store.operations.delete(eq("kind", "urgent"));
    const again = await Promise.all(Array.from({ length: 4 }, () => nextOperation(ctx, id, "device")));
    expect(again.map((next) => next?.content)).toEqual(Array(4).fill("second"));
  });

  it("are sent again in time although the clock was ahead when they were sent", async () => {
    const t = await startApp({ engine });
    const { kind, ends } = counting("ahead", { attempts: 2 });
    const ctx = knowing(t, kind);
    const { id } = await makeHost(t);
    const [operation] = await add(ctx, kind, [id]);
    t.clock.advance(days(3650));
    await sendOperation(ctx, id, operation!.uuid);
    t.clock.advance(-days(3650));
    expect(await settleOverdue(ctx, idle)).toBe(0);
    t.clock.advance(seconds(60) + hours(1));
    expect(await settleOverdue(ctx, idle)).toBe(1);
    expect([await stateOf(t, operation!.uuid), ends]).toEqual(["queued", []]);
  });

  it("a lock that was sent and not answered ends with a reason, and a late answer still locks", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const mdm = async () =>
      ((await (await t.get(`/hosts/${id}`)).json()) as { host: { mdm: Record<string, unknown> } }).host.mdm;
    await t.post(`/hosts/${id}/lock`);
    const [execution_id] = await agent.pending();
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect((await agent.call("/scripts/request", { execution_id })).status).toBe(200);
      t.clock.advance(hours(2));
      await runJob(t.services, "operations");
    }
    expect(await mdm()).toMatchObject({
      device_status: "unlocked",
      pending_action: "",
      action_failure: "the host was sent the lock and has not answered",
    });
    expect(await agent.pending()).toEqual([]);
    await agent.call("/scripts/result", { execution_id, ...answer });
    const after = await mdm();
    expect(after).toMatchObject({ device_status: "locked", pending_action: "" });
    expect(after.action_failure).toBeUndefined();
  });
});
