// What enroll secrets, identities and device pages allow over time.
import { describe, expect, it } from "vitest";
import { HOST_CERTIFICATES } from "../../src/server/certificates/device-ca/issue.ts";
import { DEVICE_ACTIONS, DEVICE_ACTIONS_A_DAY } from "../../src/server/edge/device-page/limits.ts";
import { days, hours, minutes } from "../../src/server/platform/core/clock.ts";
import { enrollment, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { askForIdentity, signedCall } from "../support/host-identity.ts";
import { addSecret, agentCall, makeManaged, SECRET } from "../support/managed.ts";

const OTHER = "another-secret";

async function started(engine: (typeof bothEngines)[number], most: number): Promise<TestApp> {
  const t = await startApp({ engine, settings: { enroll_max_new_hosts: most } });
  const secrets = [{ secret: SECRET }, { secret: OTHER }];
  expect((await t.post("/spec/enroll_secret", { spec: { secrets } })).status).toBe(200);
  return t;
}

const enrolls = (t: TestApp, host_identifier: string, enroll_secret = SECRET) =>
  throughApp(t)("/api/v1/qengine/enroll", { ...enrollment(), enroll_secret, host_identifier });

describe.each(bothEngines)("new hosts of one enroll secret on %s", (engine) => {
  it("are limited by the hour, and nothing else is", async () => {
    const t = await started(engine, 3);
    for (const name of ["a", "b", "c"]) expect((await enrolls(t, name)).status).toBe(200);
    const refused = await enrolls(t, "d");
    expect([refused.status, Number(refused.headers["retry-after"])]).toEqual([429, expect.any(Number)]);
    expect(refused.json.error).toContain("3 new hosts have enrolled with this secret within an hour");
    expect(refused.json).not.toHaveProperty("node_invalid");
    const managed = { enroll_secret: SECRET, hardware_uuid: "M", hostname: "m", platform: "ubuntu" };
    expect((await agentCall(t, "/enroll", managed)).status).toBe(429);
    expect(await t.store.hosts.count()).toBe(3);
    expect((await enrolls(t, "a")).status, "a known host").toBe(200);
    expect((await enrolls(t, "d", OTHER)).status, "another secret").toBe(200);
    t.clock.advance(hours(1) + minutes(4));
    expect((await enrolls(t, "e")).status).toBe(200);
    expect((await agentCall(t, "/enroll", managed)).status).toBe(200);
  });

  it("are counted when many enroll at once", async () => {
    const t = await started(engine, 10);
    // Enrollments that are processed together share a transaction.
    for (let round = 0; round < 3; round++)
      await Promise.all(Array.from({ length: 10 }, (_, i) => enrolls(t, `host-${round}-${i}`)));
    const count = await t.store.hosts.count();
    // Simultaneous transactions of Postgres may not see each other.
    expect(count).toBeGreaterThanOrEqual(10);
    expect(count).toBeLessThanOrEqual(engine === "lowdb" ? 10 : 20);
  });
});

describe.each(rulesEngines)("identities of agents on %s", (engine) => {
  it("are limited by the secret that asks for them", async () => {
    const t = await started(engine, 2);
    const asks = (number: number, secret = SECRET) => askForIdentity(t, { secret, subject: `/CN=UUID-${number}` });
    expect(await asks(1)).not.toBeNull();
    expect(await asks(2)).not.toBeNull();
    expect(await asks(3)).toBeNull();
    expect(await asks(3, OTHER)).not.toBeNull();
    expect(await t.store.deviceIdentities.count()).toBe(3);
    t.clock.advance(hours(2));
    expect(await asks(4)).not.toBeNull();
  });

  it("are renewed a limited number of times a day", { timeout: 120_000 }, async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const subject = "/CN=RENEWED-UUID";
    const identity = (await askForIdentity(t, { secret: SECRET, subject }))!;
    const machine = { enroll_secret: SECRET, hardware_uuid: "RENEWED-UUID", hostname: "m", platform: "ubuntu" };
    expect((await signedCall(t, identity, "/enroll", machine)).status).toBe(200);
    for (let i = 0; i < HOST_CERTIFICATES.max; i++)
      expect(await askForIdentity(t, { subject, identity }), String(i)).not.toBeNull();
    expect(await askForIdentity(t, { subject, identity })).toBeNull();
    t.clock.advance(days(1));
    expect(await askForIdentity(t, { subject, identity })).not.toBeNull();
  });
});

describe.each(rulesEngines)("the page of a device on %s", (engine) => {
  it("allows 120 actions in ten minutes, and 1,000 a day", { timeout: 120_000 }, async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const renews = () => agent.call("/device_token", { device_auth_token: "page-token" });
    await renews();
    /** Refused, because there is no such title: the attempt counts. */
    const act = () => t.raw("/api/v1/svc/device/page-token/software/install/999", { method: "POST" });
    let allowed = 0;
    const untilRefused = async (): Promise<Response> => {
      for (;;) {
        const reply = await act();
        if (reply.status === 429) return reply;
        expect(reply.status).toBe(400);
        allowed++;
      }
    };
    const first = await untilRefused();
    expect(allowed).toBe(DEVICE_ACTIONS.max);
    const wait = Number(first.headers.get("retry-after"));
    expect([wait > 0, wait <= 600]).toEqual([true, true]);
    expect((await t.raw("/api/v1/svc/device/page-token")).status, "the page itself").toBe(200);
    for (let i = 0; i < 10 && allowed < DEVICE_ACTIONS_A_DAY.max; i++) {
      t.clock.advance(minutes(11));
      await renews();
      await untilRefused();
    }
    expect(allowed).toBe(DEVICE_ACTIONS_A_DAY.max);
    t.clock.advance(minutes(11));
    await renews();
    const last = await act();
    expect([last.status, Number(last.headers.get("retry-after")) > 600]).toEqual([429, true]);
    t.clock.advance(days(1));
    await renews();
    expect((await act()).status).toBe(400);
  });
});
