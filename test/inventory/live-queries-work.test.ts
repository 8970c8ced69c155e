// A server's cache of live queries when messages get lost, and when they arrive while it reads.
import { expect, it } from "vitest";
import { endCampaign } from "../../src/server/inventory/live-queries/ending.ts";
import { startCampaign } from "../../src/server/inventory/live-queries/service.ts";
import { LiveWork } from "../../src/server/inventory/live-queries/work.ts";
import { selectionOf } from "../../src/server/inventory/targets/select.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { viewerOf } from "../../src/server/platform/core/security/viewer.ts";
import type { ServerStore } from "../../src/server/platform/core/tables.ts";
import { oneOf } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makeLiveHost } from "../support/live.ts";

/** A server on the store, with messages that only arrive when the test delivers them. */
async function deaf(t: TestApp) {
  let reset = () => {};
  let hear = (_payload: string) => {};
  const store = Object.create(t.store, {
    listen: {
      value: async (_channel: string, onMessage: (payload: string) => void, onReset: () => void) => {
        hear = onMessage;
        reset = onReset;
        return async () => {};
      },
    },
  }) as ServerStore;
  const work = await LiveWork.start({ store, log: t.services.log });
  return { work, reset: () => reset(), hear: (message: unknown) => hear(JSON.stringify(message)) };
}

async function campaign(t: TestApp, hosts: readonly { id: number }[]): Promise<number> {
  const selection = selectionOf({ hosts: hosts.map(({ id }) => id) });
  const targets = oneOf("id", selection.hosts);
  const [admin] = await t.store.users.list();
  const ctx = { ...serviceContext(t.services), user: await viewerOf(t.store, admin!, null) };
  const { id } = await startCampaign(ctx, { sql: "SELECT 1", query: null, selection, targets });
  return id;
}

it("finds out without messages: new queries, ends, and queries that agents name", async () => {
  const t = await startApp();
  const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
  const { work, reset } = await deaf(t);
  const first = await campaign(t, [a, b]);
  expect(work.has(a.id)).toBe(false);
  const heard: string[] = [];
  work.onChange(first, (what) => heard.push(what));
  await work.reconcile();
  expect(work.has(a.id)).toBe(true);
  expect(work.ask(a.id, null, true)?.body).toContain(`svc_distributed_query_${first}`);

  const second = await campaign(t, [a]);
  expect(await work.awaits(second, a.id)).toBe(true);
  expect(await work.awaits(second, b.id)).toBe(false);
  expect(await work.awaits(second + 1, a.id)).toBe(false);

  await endCampaign(t.services, first, "cancelled");
  expect(work.has(b.id)).toBe(true);
  await work.reconcile();
  expect(work.has(b.id)).toBe(false);
  expect(heard).toEqual(["reset", "end"]);

  const third = await campaign(t, [b]);
  await endCampaign(t.services, second, "cancelled");
  reset();
  await expect.poll(() => [work.has(a.id), work.has(b.id)]).toEqual([false, true]);
  expect(work.active.has(third)).toBe(true);
  await work.stop();
});

it("does not restore queries that ended or were answered while it read them", async () => {
  const t = await startApp();
  const [a, b] = [await makeLiveHost(t), await makeLiveHost(t)];
  const { work, hear } = await deaf(t);
  const id = await campaign(t, [a, b]);
  hear({ kind: "new", id });
  hear({ kind: "out", id, hosts: [a.id] });
  await expect.poll(() => work.has(b.id)).toBe(true);
  expect(work.has(a.id)).toBe(false);
  const ended = await campaign(t, [a]);
  hear({ kind: "new", id: ended });
  hear({ kind: "end", id: ended });
  expect(await work.awaits(ended, a.id)).toBe(false);
  expect(work.has(a.id)).toBe(false);
  await work.stop();
});

it("sends a host its queries in turn, with other due work in between", async () => {
  const t = await startApp();
  const host = await makeLiveHost(t);
  const { work } = await deaf(t);
  const [one, two] = [await campaign(t, [host]), await campaign(t, [host])];
  await work.reconcile();
  const turns = (idle: boolean, count: number) =>
    Array.from({ length: count }, () =>
      Number(/query_(\d+)/.exec(work.ask(host.id, null, idle)?.body ?? "")?.[1] ?? 0),
    );
  expect(turns(true, 4)).toEqual([one, two, one, two]);
  expect(turns(false, 4)).toEqual([one, 0, two, 0]);
  expect(work.ask(host.id + 1, null, true)).toBeNull();
  await work.stop();
});
