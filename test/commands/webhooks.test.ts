import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { destinationOf } from "../../src/server/automations/webhooks/destinations.ts";
import { newRow } from "../../src/server/platform/outbox/service.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { freePort } from "../support/free-port.ts";
import { isSigned, startReceiver } from "../support/receiver.ts";

let fleet: Fleet;
beforeEach(async () => {
  fleet = await startFleet({ settings: { outbound_allow: "127.0.0.1" } });
});
const until = (what: () => Promise<boolean>) => expect.poll(what).toBe(true);
const dead = (url: string, payload: Record<string, unknown> = { n: 1 }) =>
  fleet.app.store.outbox.insert({
    ...newRow(fleet.app.services, { kind: "webhook", event: "activities", destination: url, url, payload }),
    state: "dead",
    last_error: "the destination answered 500",
    last_status: 500,
    attempts: 9,
  });

describe("webhooks deliveries", () => {
  it("are listed, and shown with their payload", async () => {
    const { id } = await dead("http://127.0.0.1:9/", { told: "this" });
    const list = await fleet.run(["webhooks", "deliveries", "list", "--state", "dead"]);
    expect(list.stdout.split("\n")[0]).toMatch(/^ID\s+CREATED\s+KIND\s+EVENT\s+STATE\s+TRIES\s+STATUS\s+URL\s+ERROR$/);
    expect(list.stdout).toMatch(/webhook\s+activities\s+dead\s+9\s+500\s+http:\/\/127.0.0.1:9\//);
    const one = await fleet.run(["webhooks", "deliveries", "get", String(id), "-o", "json"]);
    expect(JSON.parse(one.stdout)).toMatchObject({ id, payload: { told: "this" } });
    expect((await fleet.run(["webhooks", "deliveries", "get", "999"])).exitCode).toBe(3);
    expect((await fleet.run(["webhooks", "deliveries", "list", "--state", "lost"])).exitCode).toBe(2);
  });
});

describe("webhooks replay", () => {
  it("sends one again, or all that were given up", async () => {
    const receiver = await startReceiver();
    const [first, second, third] = [await dead(receiver.url), await dead(receiver.url), await dead(receiver.url)];
    expect((await fleet.run(["webhooks", "replay", String(first.id)])).exitCode).toBe(0);
    await receiver.got(1);
    const dry = await fleet.run(["webhooks", "replay", "--dead", "--dry-run"]);
    expect(`${dry.stdout}${dry.stderr}`).toContain("send 2 deliveries again");
    expect((await fleet.run(["webhooks", "replay", "--dead"])).exitCode).not.toBe(0);
    expect(
      (await fleet.run(["webhooks", "replay", "--dead", "--url", "http://other.example/", "--yes"])).exitCode,
    ).toBe(0);
    expect(receiver.received).toHaveLength(1);
    expect((await fleet.run(["webhooks", "replay", "--dead", "--yes"])).exitCode).toBe(0);
    await receiver.got(3);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(
      [first, second, third].map(({ message_id }) => message_id),
    );
    expect((await fleet.run(["webhooks", "replay"])).exitCode).toBe(2);
    expect((await fleet.run(["webhooks", "replay", "1", "--dead"])).exitCode).toBe(2);
  });
});

describe("webhooks give-up", () => {
  it("asks, and then sends the deliveries behind it", async () => {
    const url = "http://127.0.0.1:9/";
    const event = { kind: "webhook", event: "activities", destination: url, url, payload: {} } as const;
    const { id } = await fleet.app.store.outbox.insert(newRow(fleet.app.services, event));
    const state = async () => (await fleet.app.store.outbox.get(id))?.state;
    const dry = await fleet.run(["webhooks", "give-up", String(id), "--dry-run"]);
    expect([dry.exitCode, await state()]).toEqual([0, "pending"]);
    expect((await fleet.run(["webhooks", "give-up", String(id)])).exitCode).not.toBe(0);
    expect(await state()).toBe("pending");
    expect((await fleet.run(["webhooks", "give-up", String(id), "--yes"])).exitCode).toBe(0);
    expect(await state()).toBe("dead");
    expect((await fleet.run(["webhooks", "give-up", String(id), "--yes"])).exitCode).toBe(5);
  });
});

describe("webhooks test", () => {
  it("reports whether the destination accepted it, also by the exit code", async () => {
    const receiver = await startReceiver();
    const good = await fleet.run(["webhooks", "test", "host_status", "--url", receiver.url]);
    expect([good.exitCode, good.stderr]).toEqual([0, expect.stringContaining("accepted it (200)")]);
    receiver.answer = () => ({ status: 500 });
    const bad = await fleet.run(["webhooks", "test", "host_status", "--url", receiver.url]);
    expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining("the destination answered 500")]);
    const before = receiver.received.length;
    expect((await fleet.run(["webhooks", "test", "host_status", "--url", receiver.url, "--dry-run"])).exitCode).toBe(0);
    expect(receiver.received).toHaveLength(before);
    expect((await fleet.run(["webhooks", "test", "nothing"])).exitCode).toBe(2);
  });
});

describe("webhooks destinations", () => {
  it("get headers from a file, and a new secret that is printed once", async () => {
    const receiver = await startReceiver();
    await writeFile(join(fleet.files, "own.txt"), "X-Api-Key: key-of-the-receiver: with colon\n\nX-More:m\n");
    const file = join(fleet.files, "own.txt");
    const set = await fleet.run(["webhooks", "destinations", "update", receiver.url, "--headers-file", file, "--new"]);
    expect([set.exitCode, set.stderr]).toEqual([0, expect.stringContaining("changed requests")]);
    expect(`${set.stdout}${set.stderr}`).not.toContain("key-of-the-receiver");
    const rotated = await fleet.run(["webhooks", "destinations", "update", receiver.url, "--rotate-secret"]);
    const secret = rotated.stdout.trim();
    expect(secret).toMatch(/^whsec_/);
    await fleet.run(["webhooks", "test", "activities", "--url", receiver.url]);
    expect(receiver.received[0]!.headers).toMatchObject({
      "x-api-key": "key-of-the-receiver: with colon",
      "x-more": "m",
    });
    expect(isSigned(receiver.received[0]!, secret)).toBe(true);
    const list = await fleet.run(["webhooks", "destinations", "list"]);
    expect(list.stdout).toContain("x-api-key, x-more");
    expect(list.stdout).not.toContain("key-of-the-receiver");
    expect((await fleet.run(["webhooks", "destinations", "update", receiver.url])).exitCode).toBe(2);
    await fleet.run(["webhooks", "destinations", "update", receiver.url, "--no-headers"]);
    const row = await fleet.app.store.webhookDestinations.first({ where: eq("url", receiver.url) });
    expect(row!.headers).toBe("{}");
    const dry = await fleet.run(["webhooks", "destinations", "update", receiver.url, "--rotate-secret", "--dry-run"]);
    expect(dry.exitCode).toBe(0);
    expect((await destinationOf(fleet.app.services, receiver.url)).signing_secret).toBe(secret);
  });
});

describe("webhooks destinations update", () => {
  const update = (url: string, ...more: string[]) =>
    fleet.run(["webhooks", "destinations", "update", url, "--rotate-secret", ...more]);
  const configured = "https://hooks.example.com/svc";

  it("refuses a URL that no webhook is sent to, and names the nearest", async () => {
    const hook = { enable_activities_webhook: false, destination_url: configured };
    await fleet.app.patch("/config", { webhook_settings: { activities_webhook: hook } });
    for (const more of [[], ["--dry-run"]]) {
      const { exitCode, stdout, stderr } = await update("https://hooks.example.com/scv", ...more);
      expect([exitCode, stdout]).toEqual([3, ""]);
      expect(stderr).toContain(`no webhook is sent to https://hooks.example.com/scv; did you mean ${configured}?`);
    }
    expect(await fleet.app.store.webhookDestinations.count()).toBe(0);
    const prepared = await update("https://other.example.com/", "--new");
    expect([prepared.exitCode, prepared.stdout]).toEqual([0, expect.stringMatching(/^whsec_/)]);
  });

  it("accepts what the settings of the organization and of teams contain", async () => {
    const hook = { enable_activities_webhook: true, destination_url: configured };
    await fleet.app.patch("/config", { webhook_settings: { activities_webhook: hook } });
    expect((await update(configured)).exitCode).toBe(0);
    const ofTeam = "https://team.example.com/hook";
    const { team } = (await (await fleet.app.post("/teams", { name: "Hooks" })).json()) as { team: { id: number } };
    const failing = { enable_failing_policies_webhook: true, destination_url: ofTeam };
    const set = await fleet.app.patch(`/teams/${team.id}`, { webhook_settings: { failing_policies_webhook: failing } });
    expect(set.status).toBe(200);
    expect((await update(ofTeam)).exitCode).toBe(0);
  });
});

describe("webhooks listen", () => {
  it("prints requests, distinguishes valid signatures from invalid ones, and recognizes repeated messages", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/hook`;
    const { signing_secret: secret } = await destinationOf(fleet.app.services, url);
    const file = join(fleet.files, "own-secret.txt");
    await writeFile(file, `${secret}\n`);
    const listening = fleet.run(["webhooks", "listen", "--port", String(port), "--secret-file", file, "--count", "4"], {
      now: new Date(fleet.app.clock.now()),
    });
    const post = (headers: Record<string, string>, body: string) =>
      fetch(url, { method: "POST", headers, body }).then(
        ({ status }) => status,
        () => 0,
      );
    const at = String(Math.floor(fleet.app.clock.now() / 1000));
    const key = Buffer.from(secret.slice(6), "base64");
    const signed = createHmac("sha256", key).update(`m1.${at}.{"n":1}`).digest("base64");
    const headers = { "webhook-id": "m1", "webhook-timestamp": at, "webhook-signature": `v1,${signed}` };
    await until(async () => (await post(headers, '{"n":1}')) === 200);
    expect(await post(headers, '{"n":2}')).toBe(401);
    expect(await post({}, "{}")).toBe(401);
    await fleet.run(["webhooks", "test", "activities", "--url", url]);
    const { stdout, stderr, exitCode } = await listening;
    expect(exitCode, stderr).toBe(0);
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ signature, again, path }) => [signature, again, path])).toEqual([
      ["valid", false, "/hook"],
      ["invalid", true, "/hook"],
      ["missing", false, "/hook"],
      ["valid", false, "/hook"],
    ]);
    expect(rows[3].body).toMatchObject({ type: "created_team" });
  });

  it("reports that the port is in use", async () => {
    const receiver = await startReceiver();
    const { exitCode, stderr } = await fleet.run(["webhooks", "listen", "--port", String(receiver.port)]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("cannot listen on")]);
  });
});
