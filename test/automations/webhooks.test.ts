import { describe, expect, it } from "vitest";
import type { Delivery, Destination } from "../../src/api/automations/webhooks.ts";
import { MASK } from "../../src/api/fields.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { CHAIN_LOCK } from "../../src/server/platform/activities/chain.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { days, hours, minutes } from "../../src/server/platform/core/clock.ts";
import { sealAll } from "../../src/server/platform/outbox/activities.ts";
import { cleanOutbox } from "../../src/server/platform/outbox/cleanup.ts";
import { enqueue, enqueueMany } from "../../src/server/platform/outbox/service.ts";
import { eq, isNull, not } from "../../src/server/platform/store/query.ts";
import { errorOf, makeTeam, makeUser } from "../support/accounts.ts";
import { type StartOptions, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { isSigned, type Receiver, startReceiver } from "../support/receiver.ts";

const start = (engine: StartOptions["engine"]) => startApp({ engine, settings: { outbound_allow: "127.0.0.1" } });
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
async function json<T>(response: Response | Promise<Response>): Promise<T> {
  const got = await response;
  if (got.status !== 200) throw new Error(`${got.status} ${await got.text()}`);
  return (await got.json()) as T;
}
const listed = async (t: TestApp, query = "") =>
  (await json<{ deliveries: Delivery[] }>(t.get(`/webhooks/deliveries${query}`))).deliveries;
const destination = async (t: TestApp, body: object) =>
  (await json<{ destination: Destination }>(t.patch("/webhooks/destinations", body))).destination;
const queue = (t: TestApp, url: string, payload: Record<string, unknown> = { n: 1 }) =>
  t.store.tx((tx) => enqueue(tx, t.services, { kind: "webhook", event: "activities", destination: url, url, payload }));

describe.each(rulesEngines)("webhooks on %s", (engine) => {
  it("report each activity once, in the feed's order, with all fields", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const sealed = () => until(async () => (await t.store.activities.count(isNull("chain_position"))) === 0);
    await makeTeam(t, "before");
    await sealed();
    const hook = { enable_activities_webhook: true, destination_url: receiver.url };
    await json(t.patch("/config", { webhook_settings: { activities_webhook: hook } }));
    const names = ["one", "two", "three"];
    for (const name of names) await makeTeam(t, name);
    const teamsTold = () => receiver.bodies().filter(({ type }) => type === "created_team");
    await until(async () => teamsTold().length >= 3);
    expect(teamsTold().map(({ details }) => (details as { team_name: string }).team_name)).toEqual(names);
    const [first] = teamsTold();
    const [admin] = await t.store.users.list();
    expect(first).toEqual({
      timestamp: t.clock.iso(),
      actor_full_name: admin!.name,
      actor_id: admin!.id,
      actor_email: admin!.email,
      type: "created_team",
      details: { team_id: expect.any(Number), team_name: "one" },
    });
    hook.enable_activities_webhook = false;
    await json(t.patch("/config", { webhook_settings: { activities_webhook: hook } }));
    await sealed();
    await until(async () => (await t.store.outbox.count(eq("state", "pending"))) === 0);
    const before = receiver.received.length;
    await makeTeam(t, "after");
    await sealed();
    expect(receiver.received.length - before).toBe(0);
    expect(JSON.stringify(receiver.bodies())).not.toContain('"after"');
  });

  it("that were sent, wait or were given up can be listed by state, event and destination, without payload", async () => {
    const receiver = await startReceiver();
    const gone = await startReceiver();
    await gone.stop();
    const t = await start(engine);
    const first = await queue(t, receiver.url, { secret: "s3cret" });
    await queue(t, gone.url);
    await until(async () => (await listed(t, "?state=delivered")).length === 1);
    await until(async () => (await listed(t)).every(({ attempts }) => attempts === 1));
    const all = await listed(t);
    expect(all.map(({ url }) => url)).toEqual([gone.url, receiver.url]);
    expect(all[0]).toMatchObject({ state: "pending", last_status: null, next_attempt_at: expect.any(String) });
    expect(all[1]).toMatchObject({ state: "delivered", last_status: 200, next_attempt_at: null });
    expect(JSON.stringify(all)).not.toContain("s3cret");
    expect((await listed(t, `?url=${encodeURIComponent(gone.url)}`)).map(({ url }) => url)).toEqual([gone.url]);
    expect(await listed(t, "?event=host_status")).toEqual([]);
    expect(await listed(t, "?per_page=1&page=1&order_key=id&order_direction=asc")).toMatchObject([{ url: gone.url }]);
    const { delivery } = await json<{ delivery: object }>(t.get(`/webhooks/deliveries/${first.id}`));
    expect(delivery).toMatchObject({ id: first.id, payload: { secret: "s3cret" } });
    expect((await t.get("/webhooks/deliveries/9999")).status).toBe(404);
    expect((await t.get("/webhooks/deliveries?state=lost")).status).toBe(400);
  });

  it("are sent again with the same id when they are replayed; waiting ones immediately", async () => {
    let status = 500;
    const receiver = await startReceiver({ answer: () => ({ status }) });
    const t = await start(engine);
    const row = await queue(t, receiver.url);
    await until(async () => (await t.store.outbox.get(row.id))?.attempts === 1);
    status = 200;
    await json(t.post(`/webhooks/deliveries/${row.id}/replay`));
    await until(async () => (await t.store.outbox.get(row.id))?.state === "delivered");
    const replayed = await json<{ delivery: Delivery }>(t.post(`/webhooks/deliveries/${row.id}/replay`));
    expect(replayed.delivery).toMatchObject({ id: row.id, state: "pending", message_id: row.message_id, attempts: 0 });
    await receiver.got(3);
    await until(async () => (await t.store.outbox.get(row.id))?.state === "delivered");
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([row.message_id]));
    expect((await t.post("/webhooks/deliveries/9999/replay")).status).toBe(404);
    const told = await t.store.activities.list({ where: eq("type", "replayed_webhook_delivery") });
    expect(told.map(({ details }) => details)).toEqual(
      Array(2).fill({ delivery_id: row.id, event: "activities", webhook_url: receiver.url }),
    );
    // One that was given up gets its 24 hours again.
    await t.store.outbox.update({ where: eq("id", row.id), set: { state: "dead", give_up_at: t.clock.iso() } });
    status = 500;
    t.clock.advance(days(3));
    await json(t.post(`/webhooks/deliveries/${row.id}/replay`));
    await receiver.got(4);
    await until(async () => (await t.store.outbox.get(row.id))?.attempts === 1);
    expect(await t.store.outbox.get(row.id)).toMatchObject({
      state: "pending",
      give_up_at: new Date(t.clock.now() + hours(24)).toISOString(),
    });
  });

  it("that are never accepted can be given up manually, and the next ones are sent", async () => {
    const receiver = await startReceiver({ answer: ({ text }) => ({ status: text === '{"n":1}' ? 400 : 200 }) });
    const t = await start(engine);
    const bad = await queue(t, receiver.url);
    const good = await queue(t, receiver.url, { n: 2 });
    await until(async () => (await t.store.outbox.get(bad.id))?.attempts === 1);
    expect((await t.store.outbox.get(good.id))?.attempts).toBe(0);
    const { delivery } = await json<{ delivery: Delivery }>(t.post(`/webhooks/deliveries/${bad.id}/give_up`));
    expect(delivery).toMatchObject({ state: "dead", last_error: "the destination answered 400" });
    await until(async () => (await t.store.outbox.get(good.id))?.state === "delivered");
    expect(receiver.bodies()).toEqual([{ n: 1 }, { n: 2 }]);
    expect((await t.post(`/webhooks/deliveries/${bad.id}/give_up`)).status).toBe(409);
    expect((await t.post(`/webhooks/deliveries/${good.id}/give_up`)).status).toBe(409);
    expect((await t.post("/webhooks/deliveries/9999/give_up")).status).toBe(404);
    const told = await t.store.activities.list({ where: eq("type", "gave_up_webhook_delivery") });
    expect(told.map(({ details }) => details)).toEqual([
      { delivery_id: bad.id, event: "activities", webhook_url: receiver.url },
    ]);
  });

  it("can be tested with a sample of each event; the result is reported without the reply's body", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    for (const event of ["activities", "host_status", "failing_policies", "vulnerabilities"]) {
      const { delivery } = await json<{ delivery: Delivery }>(t.post("/webhooks/test", { event, url: receiver.url }));
      expect(delivery).toMatchObject({ event: "test", state: "delivered", last_status: 200, attempts: 1 });
      expect(receiver.received.at(-1)!.headers["webhook-id"]).toBe(delivery.message_id);
    }
    expect(receiver.bodies().map((body) => Object.keys(body))).toEqual([
      ["timestamp", "actor_full_name", "actor_id", "actor_email", "type", "details"],
      ["text", "data"],
      ["timestamp", "policy", "hosts"],
      ["timestamp", "vulnerability"],
    ]);
    receiver.answer = () => ({ status: 418, body: "an inner secret" });
    const failed = await t.post("/webhooks/test", { event: "activities", url: receiver.url });
    const text = await failed.text();
    expect(JSON.parse(text)).toMatchObject({
      delivery: { state: "dead", last_status: 418, last_error: "the destination answered 418" },
    });
    expect(text).not.toContain("inner secret");
    const unset = await t.post("/webhooks/test", { event: "activities" });
    expect([unset.status, (await errorOf(unset)).errors?.[0]?.name]).toEqual([422, "url"]);
    const bad = await t.post("/webhooks/test", { event: "activities", url: "ftp://a.example/" });
    expect([bad.status, (await errorOf(bad)).errors?.[0]?.name]).toEqual([422, "url"]);
    expect((await t.post("/webhooks/test", { event: "nothing" })).status).toBe(422);
    const inner = await json<{ delivery: Delivery }>(
      t.post("/webhooks/test", { event: "activities", url: "http://169.254.169.254/latest/meta-data" }),
    );
    expect(inner.delivery).toMatchObject({
      state: "dead",
      last_error: expect.stringContaining("Cannot send to 169.254.169.254"),
    });
    const hook = { enable_activities_webhook: true, destination_url: receiver.url };
    receiver.answer = () => ({});
    await json(t.patch("/config", { webhook_settings: { activities_webhook: hook } }));
    expect((await json<{ delivery: Delivery }>(t.post("/webhooks/test", { event: "activities" }))).delivery.url).toBe(
      receiver.url,
    );
  });

  it("have destinations with a secret that is shown once, and headers that are stored encrypted", async () => {
    const receiver = await startReceiver();
    const t = await start(engine);
    const made = await destination(t, {
      url: receiver.url,
      headers: { "X-Api-Key": "key-of-the-receiver", Authorization: "Bearer b" },
    });
    expect(made.signing_secret).toMatch(/^whsec_/);
    expect(made.headers).toEqual({ "x-api-key": MASK, authorization: MASK });
    await queue(t, receiver.url);
    await receiver.got(1);
    expect(receiver.received[0]!.headers).toMatchObject({
      "x-api-key": "key-of-the-receiver",
      authorization: "Bearer b",
    });
    expect(isSigned(receiver.received[0]!, made.signing_secret)).toBe(true);

    const kept = await destination(t, { url: receiver.url, headers: { "x-api-key": MASK, "x-more": "m" } });
    expect(kept.signing_secret).toBe(MASK);
    const rotated = await destination(t, { url: receiver.url, rotate_secret: true });
    expect(rotated.signing_secret).toMatch(/^whsec_/);
    expect(rotated.signing_secret).not.toBe(made.signing_secret);
    await queue(t, receiver.url);
    await receiver.got(2);
    expect(receiver.received[1]!.headers).toMatchObject({ "x-api-key": "key-of-the-receiver", "x-more": "m" });
    expect(receiver.received[1]!.headers).not.toHaveProperty("authorization");
    expect(isSigned(receiver.received[1]!, rotated.signing_secret)).toBe(true);

    const text = await (await t.get("/webhooks/destinations")).text();
    expect(JSON.parse(text).destinations).toMatchObject([{ url: receiver.url, signing_secret: MASK }]);
    for (const secret of ["key-of-the-receiver", made.signing_secret, rotated.signing_secret])
      expect(text).not.toContain(secret);
    const told = await t.store.activities.list({ where: eq("type", "edited_webhook_destination") });
    expect(told.map(({ details }) => details)).toEqual(
      [false, false, true].map((secret_rotated) => ({ webhook_url: receiver.url, secret_rotated })),
    );
    expect(JSON.stringify(told)).not.toContain("key-of-the-receiver");
  });

  it("accept no headers of HTTP itself or of the signature, and none that would start another one", async () => {
    const t = await start(engine);
    const url = "https://hooks.example.com/";
    const refused = async (headers: unknown, name: string) => {
      const response = await t.patch("/webhooks/destinations", { url, headers });
      const { errors } = await errorOf(response);
      expect([response.status, errors?.[0]?.name]).toEqual([422, name]);
    };
    for (const name of ["content-type", "Host", "Content-Length", "webhook-id", "Webhook-Signature", "connection"])
      await refused({ [name]: "x" }, `headers.${name}`);
    await refused({ "x-a": "1\r\nx-b: 2" }, "headers.x-a");
    await refused({ "bad name": "x" }, "headers.bad name");
    await refused({ "x-a": MASK }, "headers.x-a");
    await refused({ "x-a": "1", "X-A": "2" }, "headers.X-A");
    await refused({ "x-a": "y".repeat(5000) }, "headers.x-a");
    await refused(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, "v"])), "headers");
    const bad = await t.patch("/webhooks/destinations", { url: "file:///etc/passwd" });
    expect([bad.status, (await errorOf(bad)).errors?.[0]?.name]).toEqual([422, "url"]);
    for (const long of [`https://a.example/${"x".repeat(2000)}`, `https://a.example/${"\u{1f600}".repeat(500)}`]) {
      const response = await t.patch("/webhooks/destinations", { url: long, rotate_secret: true });
      expect([response.status, (await errorOf(response)).errors?.[0]?.name]).toEqual([422, "url"]);
      const hook = { enable_activities_webhook: true, destination_url: long };
      const config = await t.patch("/config", { webhook_settings: { activities_webhook: hook } });
      expect(config.status).toBe(422);
    }
    expect(await t.store.webhookDestinations.count()).toBe(0);
    // An address of maximum length: both stores look it up.
    const longest = `https://a.example/${"x".repeat(1982)}`;
    expect((await t.patch("/webhooks/destinations", { url: longest, rotate_secret: true })).status).toBe(200);
    await queue(t, longest);
  });

  it("require a global admin or gitops", async () => {
    const t = await start(engine);
    const team = await makeTeam(t, "one");
    const row = await queue(t, "http://127.0.0.1:9/");
    const calls = [
      ["GET", "/webhooks/deliveries"],
      ["GET", `/webhooks/deliveries/${row.id}`],
      ["POST", `/webhooks/deliveries/${row.id}/replay`],
      ["POST", `/webhooks/deliveries/${row.id}/give_up`],
      ["POST", "/webhooks/test", { event: "activities", url: "http://127.0.0.1:9/" }],
      ["GET", "/webhooks/destinations"],
      ["PATCH", "/webhooks/destinations", { url: "https://a.example/", rotate_secret: true }],
    ] as const;
    const people = [
      ["admin", 200],
      ["gitops", 200],
      ["maintainer", 403],
      ["observer", 403],
      ["observer_plus", 403],
      ["technician", 403],
      [{ [team]: "admin" }, 403],
      [{ [team]: "gitops" }, 403],
    ] as const;
    for (const [roles, want] of people) {
      const person = await makeUser(t, roles);
      for (const [method, path, body] of calls) {
        const { status } = await person.request(method, path, body);
        expect([roles, method, path, status]).toEqual([roles, method, path, want]);
      }
    }
  });

  it("are kept for a while: delivered ones 7 days, given up ones 30, and never more than the limit", async () => {
    const t = await start(engine);
    const url = "http://127.0.0.1:9/";
    const one = { kind: "webhook", event: "activities", destination: url, url, payload: {} } as const;
    await t.store.tx((tx) => enqueueMany(tx, t.services, Array(10).fill(one)));
    const rows = await t.store.outbox.list();
    const at = t.clock.iso();
    for (const row of rows.slice(0, 4))
      await t.store.outbox.update({ where: eq("id", row.id), set: { state: "delivered", delivered_at: at } });
    for (const row of rows.slice(4, 7))
      await t.store.outbox.update({ where: eq("id", row.id), set: { state: "dead" } });
    const counted = async () =>
      Object.fromEntries((await t.store.outbox.groupCount("state")).map(({ value, count }) => [value, count]));
    const signal = new AbortController().signal;
    await cleanOutbox(t.services, signal, { delivered: 3, dead: 3, pending: 2 });
    expect(await counted()).toEqual({ delivered: 3, dead: 3, pending: 2 });
    const left = await t.store.outbox.list({ where: eq("state", "dead") });
    expect(left.map(({ last_error }) => last_error)).toContain("given up: too many pending deliveries");
    t.clock.advance(days(7) + minutes(1));
    await runJob(t.services, "outbox_cleanup");
    expect(await counted()).not.toHaveProperty("delivered");
    expect(await counted()).toHaveProperty("dead");
    // Pending rows would be given up now, and kept from now on.
    await t.store.outbox.delete(eq("state", "pending"));
    t.clock.advance(days(31));
    await runJob(t.services, "outbox_cleanup");
    expect(await t.store.outbox.count()).toBe(0);
    await t.store.notify(channels.outbox, "");
  });
});

describe.each(bothEngines)("webhooks by the settings of their time on %s", (engine) => {
  it("deliver each activity by the settings at the time of its recording, whatever is changed before it is sent", async () => {
    const [first, second] = [await startReceiver(), await startReceiver()];
    const t = await start(engine);
    const set = (enable_activities_webhook: boolean, destination_url: string) =>
      json(
        t.patch("/config", {
          webhook_settings: { activities_webhook: { enable_activities_webhook, destination_url } },
        }),
      );
    // On Postgres the lock keeps every server from sealing until all changes are made; lowdb runs one transaction at a
    // time.
    await (engine === "postgres" ? t.store.tx(record, { lock: CHAIN_LOCK }) : record());
    await sealAll(t.services);
    const teamsAt = (receiver: Receiver) =>
      receiver
        .bodies()
        .filter(({ type }) => type === "created_team")
        .map(({ details }) => (details as { team_name: string }).team_name);
    await until(async () => (await t.store.outbox.count(eq("state", "pending"))) === 0);
    expect(teamsAt(first)).toEqual(["to the first"]);
    expect(teamsAt(second)).toEqual(["to the second"]);
    expect(first.bodies().map(({ type }) => type)).toEqual(["enabled_activity_automations", "created_team"]);
    expect(second.bodies().map(({ type }) => type)).toEqual(["edited_activity_automations", "created_team"]);
    expect(await t.store.activities.count(not(isNull("webhook_url")))).toBe(0);

    async function record() {
      await makeTeam(t, "before");
      await set(true, first.url);
      await makeTeam(t, "to the first");
      await set(true, second.url);
      await makeTeam(t, "to the second");
      await set(false, second.url);
      await makeTeam(t, "after");
    }
  });
});
