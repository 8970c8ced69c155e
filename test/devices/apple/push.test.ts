// Pushes to Apple devices, against a stand-in for the push service.
import { X509Certificate } from "node:crypto";
import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../../src/server/devices/apple/push/answers.ts";
import { connectToPushService } from "../../../src/server/devices/apple/push/connect.ts";
import { push, pushes, sendDue } from "../../../src/server/devices/apple/push/push.ts";
import { PushSession } from "../../../src/server/devices/apple/push/session.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { hours, isoAt, minutes, seconds } from "../../../src/server/platform/core/clock.ts";
import { proxyFor } from "../../../src/server/platform/core/outbound/proxy.ts";
import type { SettingsInput } from "../../../src/server/platform/core/settings/settings.ts";
import { readSettings } from "../../../src/server/platform/core/settings/sources.ts";
import { eq, everything } from "../../../src/server/platform/store/query.ts";
import {
  enrollForPushes,
  makePushCertificate,
  setPushCertificate,
  startConnectProxy,
  startPushService,
  TOPIC,
  tokenOf,
} from "../../support/apns.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { bothEngines, type EngineName, rulesEngines } from "../../support/engines.ts";
import { makeHost, makeOperation } from "../../support/make.ts";

const certificate = await makePushCertificate();

/** The ids of the devices' enrollments are 1, 2, and so on. */
async function start(engine: EngineName, settings: SettingsInput = {}, devices = 3) {
  const apns = await startPushService();
  const t = await startApp({ engine, settings: { apns_url: apns.url, ...settings } });
  await setPushCertificate(t, certificate);
  const hostIds: number[] = [];
  for (let i = 0; i < devices; i++) hostIds.push((await makeHost(t, { platform: "darwin" })).id);
  await enrollForPushes(t, hostIds);
  return { t, apns, hostIds };
}
/** A command waits for the device of the host. */
const addCommand = (t: TestApp, hostId: number) => makeOperation(t, hostId, { kind: "apple_profile", lane: "apple" });
/** Nothing is sent but by the calls of the test. */
async function startStill(engine: EngineName) {
  const started = await start(engine);
  await started.t.services.running.of(pushes).stop();
  return started;
}
const rowsOf = async (t: TestApp) =>
  (await t.store.applePushes.list()).map(({ enrollment_id, due_at, reminders }) => ({
    enrollment_id,
    in: due_at === null ? null : Math.round((Date.parse(due_at) - t.clock.now()) / 1000),
    reminders,
  }));
const HOUR = 3600;

describe.each(bothEngines)("pushes to Apple devices on %s", (engine) => {
  it("are sent soon after the commit, once for each device, with the headers that the service requires", async () => {
    const { t, apns } = await start(engine);
    await t.store.tx(async (store) => {
      await push({ ...t.services, store }, [1, 2]);
      await push({ ...t.services, store }, [2]);
    });
    await expect.poll(() => apns.received.length).toBe(2);
    expect(apns.received.map(({ token, body }) => [Number.parseInt(token, 16), body]).sort()).toEqual([
      [1, { mdm: "magic-1" }],
      [2, { mdm: "magic-2" }],
    ]);
    expect(apns.received[0]!.expiration).toBe((t.clock.now() + hours(1)) / 1000);
    expect(apns.sessions.length).toBe(1);
    // Counted when the answer has arrived, which is after the stand-in has received the push.
    const metrics = async () => (await t.raw("/metrics")).text();
    await expect.poll(metrics).toContain('svc_apns_pushes_total{status="200",reason=""} 2');
  });

  it("of two servers are sent by one of them", async () => {
    const { t, apns } = await start(engine, {}, 50);
    await push(
      t.services,
      Array.from({ length: 50 }, (_, i) => i + 1),
    );
    await Promise.all([sendDue(t.services), sendDue(t.services), sendDue(t.services)]);
    await expect.poll(() => apns.received.length).toBeGreaterThanOrEqual(50);
    expect(new Set(apns.received.map(({ token }) => token)).size).toBe(50);
    expect(apns.received.length).toBe(50);
  });
});

describe.each(rulesEngines)("rules of pushes on %s", (engine) => {
  it("repeat a push after 1 hour, 4 hours and then daily, while a command waits", async () => {
    const { t, apns, hostIds } = await startStill(engine);
    const command = await addCommand(t, hostIds[0]!);
    await push(t.services, [1]);
    await sendDue(t.services);
    expect(await rowsOf(t)).toEqual([{ enrollment_id: 1, in: HOUR, reminders: 1 }]);
    for (const [wait, next] of [
      [hours(1), 4 * HOUR],
      [hours(4), 24 * HOUR],
      [hours(24), 24 * HOUR],
    ] as const) {
      t.clock.advance(wait - 1000);
      await runJob(t.services, "apns_push");
      const before = apns.received.length;
      t.clock.advance(1000);
      await runJob(t.services, "apns_push");
      expect(apns.received.length).toBe(before + 1);
      expect(await rowsOf(t)).toMatchObject([{ in: next }]);
    }
    await t.store.operations.delete(eq("id", command.id));
    t.clock.advance(hours(24));
    await runJob(t.services, "apns_push");
    expect(apns.received.length).toBe(4);
    expect(await rowsOf(t)).toEqual([]);
  });

  it("ask a device at most every 3 seconds", async () => {
    const { t, apns } = await startStill(engine);
    await push(t.services, [1]);
    await sendDue(t.services);
    t.clock.advance(seconds(1));
    await push(t.services, [1]);
    await sendDue(t.services);
    expect(apns.received.length).toBe(1);
    t.clock.advance(seconds(2));
    await sendDue(t.services);
    expect(apns.received.length).toBe(2);
  });

  it("do not use an invalid token again until the device sends another one", async () => {
    const { t, apns } = await startStill(engine);
    const token = tokenOf(1);
    for (const answer of [
      { status: 400, body: { reason: "BadDeviceToken" } },
      { status: 410, body: { reason: "Unregistered", timestamp: t.clock.now() + hours(1000) } },
    ]) {
      apns.answers.set(token, answer);
      const before = apns.received.length;
      await push(t.services, [1]);
      await sendDue(t.services);
      expect(apns.received.length).toBe(before + 1);
      await push(t.services, [1]);
      await sendDue(t.services);
      t.clock.advance(hours(48));
      await push(t.services, [1]);
      await runJob(t.services, "apns_push");
      expect(apns.received.length).toBe(before + 1);
      await t.store.appleEnrollments.update({ where: eq("id", 1), set: { token_at: t.clock.iso() } });
    }
    apns.answers.clear();
    await push(t.services, [1]);
    await sendDue(t.services);
    expect(apns.received.length).toBe(3);
  });

  it("ignore that a token was invalid before the device sent it again", async () => {
    const { t, apns, hostIds } = await startStill(engine);
    apns.answers.set(tokenOf(1), { status: 410, body: { reason: "Unregistered", timestamp: t.clock.now() - 1 } });
    await addCommand(t, hostIds[0]!);
    await push(t.services, [1]);
    await sendDue(t.services);
    expect(await rowsOf(t)).toEqual([{ enrollment_id: 1, in: HOUR, reminders: 1 }]);
  });

  it("stop when the certificate is refused, say so, and go on with another certificate", async () => {
    const { t, apns } = await startStill(engine);
    for (const n of [1, 2, 3]) apns.answers.set(tokenOf(n), { status: 403, body: { reason: "BadCertificate" } });
    await push(t.services, [1]);
    await sendDue(t.services);
    await push(t.services, [2, 3]);
    t.clock.advance(minutes(30));
    await sendDue(t.services);
    expect(apns.received.length).toBe(1);
    expect(await (await t.raw("/metrics")).text()).toContain("svc_apns_certificate_refused 1");
    apns.answers.clear();
    await setPushCertificate(t, await makePushCertificate("another"));
    await sendDue(t.services);
    expect(apns.received.length).toBe(4);
    expect(await (await t.raw("/metrics")).text()).toContain("svc_apns_certificate_refused 0");
  });

  it("are repeated after minutes for 429, and after seconds for an unavailable service", async () => {
    const { t, apns } = await startStill(engine);
    apns.answers.set(tokenOf(1), { status: 429, body: { reason: "TooManyRequests" } });
    apns.answers.set(tokenOf(2), { status: 503, body: { reason: "ServiceUnavailable" } });
    await push(t.services, [1, 2]);
    await sendDue(t.services);
    const [first, second] = await rowsOf(t);
    expect([first!.in! >= 300, first!.in! <= 450, first!.reminders]).toEqual([true, true, 0]);
    expect([second!.in! >= 15, second!.in! <= 23, second!.reminders]).toEqual([true, true, 0]);
    apns.answers.clear();
    t.clock.advance(minutes(8));
    await sendDue(t.services);
    expect(apns.received.length).toBe(4);
  });

  it("wait for a service that cannot be reached, and for a certificate", async () => {
    const { t, apns } = await startStill(engine);
    Object.assign(t.services.settings, { apns_url: "http://127.0.0.1:9" });
    await push(t.services, [1]);
    expect(await sendDue(t.services)).toBe(0);
    Object.assign(t.services.settings, { apns_url: apns.url });
    await setPushCertificate(t, null);
    t.clock.advance(minutes(2));
    expect(await sendDue(t.services)).toBe(0);
    await setPushCertificate(t, certificate);
    expect(await sendDue(t.services)).toBe(1);
  });

  it("use a new session after the service has ended one", async () => {
    const { t, apns } = await startStill(engine);
    await push(t.services, [1]);
    await sendDue(t.services);
    apns.sessions[0]!.goaway();
    t.clock.advance(minutes(1));
    await expect
      .poll(async () => {
        await push(t.services, [1]);
        t.clock.advance(minutes(1));
        return sendDue(t.services);
      })
      .toBe(1);
    expect(apns.received.at(-1)!.session).toBe(1);
  });

  it("can be requested for a host, if Apple management is on and the host is enrolled", async () => {
    const { t, apns } = await start(engine, {}, 0);
    const host = await makeHost(t, { platform: "darwin" });
    const ping = () => t.post(`/hosts/${host.id}/apns_ping`);
    expect((await ping()).status).toBe(400);
    await turnOnAppleMdm(t);
    const refused = await ping();
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("not enrolled")]);
    await enrollForPushes(t, [host.id]);
    expect((await ping()).status).toBe(204);
    await expect.poll(() => apns.received.length).toBe(1);
    // Nothing was queued, so there is no reminder.
    t.clock.advance(hours(2));
    await runJob(t.services, "apns_push");
    expect([apns.received.length, await t.store.applePushes.count(everything)]).toEqual([1, 0]);
    expect((await t.post("/hosts/999999/apns_ping")).status).toBe(404);
  });
});

describe("connections to the push service", () => {
  it("identify the server with the push certificate, directly and through a proxy", async () => {
    const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], {
      keySize: 2048,
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "localhost" }] }],
    });
    const apns = await startPushService({ tls: { cert, key } });
    const proxy = await startConnectProxy();
    // The stand-in's own certificate is nobody's.
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      for (const https_proxy of [undefined, proxy.url]) {
        const settings = { apns_url: apns.url, https_proxy, no_proxy: [] };
        const session = new PushSession(await connectToPushService(settings, certificate));
        const sent = { token: "ab".repeat(32), topic: TOPIC, magic: "m", expiration: 1 };
        expect(await session.send(sent)).toEqual({ status: 200, reason: "", since: null });
        expect(await session.send({ ...sent, topic: "another" })).toMatchObject({ reason: "DeviceTokenNotForTopic" });
        session.close();
      }
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    const own = new X509Certificate(certificate.certificate).fingerprint256;
    expect(apns.received.map(({ client }) => client)).toEqual([own, own]);
    expect(proxy.targets).toEqual([`me:secret@${new URL(apns.url).host}`]);
  });

  it("refuse a service whose certificate is not trusted", async () => {
    const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }], { keySize: 2048 });
    const apns = await startPushService({ tls: { cert, key } });
    const settings = { apns_url: apns.url, https_proxy: undefined, no_proxy: [] };
    await expect(connectToPushService(settings, certificate)).rejects.toThrow(/self.signed/);
  });

  it("keep to the service's limit of pushes at a time", async () => {
    const apns = await startPushService({ maxConcurrentStreams: 7, slow: true });
    const settings = { apns_url: apns.url, https_proxy: undefined, no_proxy: [] };
    const session = new PushSession(await connectToPushService(settings, certificate));
    const sent = { topic: TOPIC, magic: "m", expiration: 1 };
    // The service's limit is known when the first push has been answered.
    await session.send({ ...sent, token: "ff" });
    const tokens = Array.from({ length: 100 }, (_, i) => i.toString(16).padStart(64, "0"));
    const answers = await Promise.all(tokens.map((token) => session.send({ ...sent, token })));
    expect(answers.filter(({ status }) => status === 200).length).toBe(100);
    expect(apns.most.open).toBe(7);
    session.close();
  });

  it("go through the proxy of the environment, except for the names that it excepts", () => {
    const env = { HTTPS_PROXY: "http://proxy.example:3128", NO_PROXY: "internal.example, .corp.example,other:8443" };
    const settings = readSettings({ flags: {}, env });
    const by = (url: string) => proxyFor(settings, new URL(url))?.host ?? null;
    expect(by("https://api.push.apple.com")).toBe("proxy.example:3128");
    expect(by("https://internal.example")).toBe(null);
    expect(by("https://apns.corp.example")).toBe(null);
    expect([by("https://other:8443"), by("https://other")]).toEqual([null, "proxy.example:3128"]);
    expect(by("http://127.0.0.1")).toBe(null);
    expect(proxyFor(readSettings({ flags: {}, env: { ...env, NO_PROXY: "*" } }), new URL("https://a.b"))).toBe(null);
    expect(readSettings({ flags: {}, env: { ...env, SVC_HTTPS_PROXY: "http://own:1" } }).https_proxy).toBe(
      "http://own:1",
    );
  });

  it("are encrypted, except to this machine", () => {
    for (const apns_url of ["http://push.example.com", "ftp://127.0.0.1", "nonsense"])
      expect(() => readSettings({ flags: { apns_url }, env: {} })).toThrow(/apns_url: /);
    for (const apns_url of ["http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://push.example.com"])
      expect(readSettings({ flags: { apns_url }, env: {} }).apns_url).toBe(apns_url);
  });
});

it("reads the answers of the push service", () => {
  const at = Date.parse("2026-03-01T12:00:00.000Z");
  const kind = (status: number, reason = "", since: number | null = null) =>
    outcomeOf({ status, reason, since }, at).kind;
  expect(isoAt(at)).toBe("2026-03-01T12:00:00.000Z");
  expect(kind(200)).toBe("accepted");
  expect(kind(400, "BadDeviceToken")).toBe("token_invalid");
  expect(kind(400, "DeviceTokenNotForTopic")).toBe("token_invalid");
  expect(kind(400, "BadExpirationDate")).toBe("rejected");
  expect(kind(403, "ExpiredProviderToken")).toBe("certificate_refused");
  expect(kind(410, "Unregistered", at)).toBe("token_invalid");
  expect(kind(410, "Unregistered")).toBe("token_invalid");
  expect(kind(410, "Unregistered", at - 1)).toBe("rejected");
  expect(kind(429)).toBe("later");
  expect([kind(500), kind(503), kind(0)]).toEqual(["later", "later", "later"]);
  expect(kind(413)).toBe("rejected");
});
