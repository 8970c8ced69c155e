// The push certificate, which turns device management of Apple devices on.

import { createPublicKey, generateKeyPairSync, verify, X509Certificate } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApnsCertificate, AppleStatus, UploadedCertificate } from "../../../src/api/devices/apple-trust.ts";
import type { ErrorBody } from "../../../src/api/fields.ts";
import { readRequest } from "../../../src/pki/request.ts";
import { newKey } from "../../../src/pki/x509.ts";
import { deviceCa } from "../../../src/server/certificates/device-ca/ca.ts";
import { pushCertificate } from "../../../src/server/devices/apple/push/devices.ts";
import { loadSigners } from "../../../src/server/devices/apple/trust/signers.ts";
import { days } from "../../../src/server/platform/core/clock.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { newDir, openssl } from "../../support/ca-fakes.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { pemOfKey, pushCertificateFor, TOPIC } from "../../support/push-certificate.ts";

const UPLOAD = "/api/v1/svc/mdm/vendora/apns_certificate";

async function upload(t: TestApp, fields: { certificate?: string; private_key?: string; force?: string }) {
  const form = new FormData();
  if (fields.force !== undefined) form.append("force", fields.force);
  for (const name of ["certificate", "private_key"] as const)
    if (fields[name] !== undefined) form.append(name, new Blob([fields[name]]), `${name}.pem`);
  return t.raw(UPLOAD, { method: "POST", headers: { authorization: `Bearer ${t.token}` }, body: form });
}

const csrOf = async (t: TestApp): Promise<string> => {
  const reply = await t.get("/mdm/vendora/request_csr");
  expect(reply.status).toBe(200);
  return Buffer.from(((await reply.json()) as { csr: string }).csr, "base64").toString();
};
const derOf = (text: string): Buffer => Buffer.from(text.replace(/-----[A-Z ]+-----/g, ""), "base64");
const keyOfRequest = async (t: TestApp) => readRequest(derOf(await csrOf(t))).publicKey;

const enabled = async (t: TestApp): Promise<boolean> =>
  ((await (await t.get("/config")).json()) as { mdm: { enabled_and_configured: boolean } }).mdm.enabled_and_configured;
const status = async (t: TestApp) => (await (await t.get("/mdm/vendora/status")).json()) as AppleStatus;
const types = async (t: TestApp): Promise<string[]> =>
  (await t.store.activities.list()).map(({ type }) => type).filter((type) => /apns|certificate_expires/.test(type));

async function reasonOf(response: Response): Promise<string> {
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as ErrorBody;
  return errors!.map(({ name, reason }) => `${name} ${reason}`).join("\n");
}

/** Sessions that outlast certificates. */
const settings = { session_duration: "10000d", session_max_age: "10000d" };

describe.each(bothEngines)("the push certificate on %s", (engine) => {
  it("turns device management of Apple devices on, and its deletion turns it off", async () => {
    const t = await startApp({ engine });
    expect((await t.get("/apns")).status).toBe(400);
    expect((await t.delete("/mdm/vendora/apns_certificate")).status).toBe(404);
    const key = await keyOfRequest(t);
    expect(await status(t)).toMatchObject({ enabled: false, push_certificate: null, request_pending: true });
    const uploaded = await upload(t, { certificate: await pushCertificateFor(key, t.clock.now()) });
    expect(uploaded.status).toBe(200);
    const end = new Date(t.clock.now() + days(365)).toISOString();
    const shown = {
      common_name: "APSP:7f1e",
      serial_number: "72623859790382856",
      issuer: "Test Application Integration CA",
      renew_date: end,
    };
    expect((await uploaded.json()) as UploadedCertificate).toEqual({
      ...shown,
      topic: TOPIC,
      devices_to_enroll_again: 0,
    });
    expect(await enabled(t)).toBe(true);
    for (const path of ["/apns", "/mdm/vendora"])
      expect((await (await t.get(path)).json()) as ApnsCertificate).toEqual(shown);
    expect(await status(t)).toMatchObject({
      enabled: true,
      push_certificate: { ...shown, topic: TOPIC },
      request_pending: false,
      signs_requests: false,
      server_url: "https://svc.example.com/",
      devices_to_enroll_again: 0,
      expiring: [{ name: "push certificate", not_valid_after: end, days_left: 365, soon: false }],
    });
    const pushed = await pushCertificate(t.store);
    expect(createPublicKey(pushed!.key).equals(new X509Certificate(pushed!.certificate).publicKey)).toBe(true);
    expect((await t.delete("/mdm/vendora/apns_certificate")).status).toBe(204);
    expect([await enabled(t), (await t.get("/apns")).status]).toEqual([false, 400]);
    expect(await types(t)).toEqual(["added_apns_certificate", "deleted_apns_certificate"]);
  });

  it("is renewed with its topic, and with another one only on request", async () => {
    const t = await startApp({ engine, settings });
    const first = await keyOfRequest(t);
    expect((await upload(t, { certificate: await pushCertificateFor(first, t.clock.now()) })).status).toBe(200);
    t.clock.advance(days(300));
    const second = await keyOfRequest(t);
    const topic = "com.apple.mgmt.External.other";
    const other = await pushCertificateFor(second, t.clock.now(), { topic });
    expect(await reasonOf(await upload(t, { certificate: other }))).toMatch(
      /^certificate is for the topic .*other, but .*force=true/,
    );
    expect(await status(t)).toMatchObject({ push_certificate: { topic: TOPIC }, request_pending: true });
    expect((await upload(t, { certificate: await pushCertificateFor(second, t.clock.now()) })).status).toBe(200);
    const third = await newKey();
    const again = await upload(t, {
      certificate: await pushCertificateFor(third, t.clock.now(), { topic }),
      private_key: pemOfKey(third),
      force: "true",
    });
    expect(await again.json()).toMatchObject({ topic });
    expect(await types(t)).toEqual(["added_apns_certificate", "renewed_apns_certificate", "renewed_apns_certificate"]);
  });

  it("is announced once 30 days before its end, and so is the device CA", async () => {
    const t = await startApp({ engine, settings });
    await upload(t, { certificate: await pushCertificateFor(await keyOfRequest(t), t.clock.now()) });
    await deviceCa(t.services);
    const run = async () => {
      t.clock.advance(1000);
      const trigger = async () => (await t.post("/trigger?name=certificate_expiry")).status;
      await expect.poll(trigger).toBe(200);
      const running = async () => {
        const { jobs } = (await (await t.get("/jobs")).json()) as { jobs: { name: string; running: boolean }[] };
        return jobs.find(({ name }) => name === "certificate_expiry")?.running;
      };
      await expect.poll(running).toBe(false);
    };
    const announced = async () =>
      (await t.store.activities.list())
        .filter(({ type }) => type === "certificate_expires")
        .map(({ details }) => (details as { name: string }).name);
    await run();
    expect(await announced()).toEqual([]);
    t.clock.advance(days(336));
    await run();
    await run();
    expect(await announced()).toEqual(["push certificate"]);
    expect((await status(t)).expiring.map(({ name, soon }) => [name, soon])).toEqual([
      ["push certificate", true],
      ["device CA", false],
    ]);
    await upload(t, { certificate: await pushCertificateFor(await keyOfRequest(t), t.clock.now()) });
    t.clock.advance(days(340));
    await run();
    expect(await announced()).toEqual(["push certificate", "push certificate"]);
    t.clock.advance(days(3000));
    await run();
    expect(await announced()).toHaveLength(3);
    expect((await announced()).at(-1)).toBe("device CA");
  });
});

describe.each(rulesEngines)("an uploaded certificate on %s", (engine) => {
  it("is refused with the reason", async () => {
    const t = await startApp({ engine });
    const now = t.clock.now();
    const key = await newKey();
    const good = await pushCertificateFor(key, now);
    expect(await reasonOf(await upload(t, { certificate: good }))).toContain("private_key is missing");
    const requested = await keyOfRequest(t);
    const bad: [string, { certificate: string; private_key?: string }][] = [
      ["certificate contains no certificate in PEM format", { certificate: "hello" }],
      ["certificate contains a certificate that cannot be read", { certificate: good.replace("MII", "MIK") }],
      ["certificate is not for the key of the newest request", { certificate: good }],
      ["private_key is not the key of the certificate", { certificate: good, private_key: pemOfKey(await newKey()) }],
      ["private_key contains no private key", { certificate: good, private_key: "hello" }],
      [
        "private_key is encrypted",
        {
          certificate: good,
          private_key: generateKeyPairSync("rsa", {
            modulusLength: 2048,
            privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-128-cbc", passphrase: "x" },
            publicKeyEncoding: { type: "spki", format: "pem" },
          }).privateKey,
        },
      ],
      [
        "certificate expired on 2026-02-28",
        { certificate: await pushCertificateFor(requested, now, { until: now - days(1) }) },
      ],
      [
        "certificate is valid only from",
        { certificate: await pushCertificateFor(requested, now, { from: now + days(1) }) },
      ],
      ["certificate has no UID", { certificate: await pushCertificateFor(requested, now, { topic: null }) }],
      [
        "certificate is for the topic com.example.app",
        { certificate: await pushCertificateFor(requested, now, { topic: "com.example.app" }) },
      ],
    ];
    for (const [reason, fields] of bad) expect(await reasonOf(await upload(t, fields)), reason).toContain(reason);
    expect((await upload(t, {})).status).toBe(400);
    expect(await enabled(t)).toBe(false);
    // The key of a request that was replaced is gone.
    await csrOf(t);
    const late = await upload(t, { certificate: await pushCertificateFor(requested, now) });
    expect(await reasonOf(late)).toContain("newest request");
    const own = { certificate: good, private_key: pemOfKey(key) };
    for (const url of ["http://svc.example.com", "http://10.0.0.1:8080"]) {
      await t.patch("/config", { server_settings: { server_url: url } });
      expect(await reasonOf(await upload(t, own))).toContain("must start with https://");
    }
    await t.patch("/config", { server_settings: { server_url: "http://127.0.0.1:8080" } });
    expect((await upload(t, own)).status).toBe(200);
  });

  it("is not written by a dry run", async () => {
    const t = await startApp({ engine });
    const key = await newKey();
    const form = new FormData();
    form.append("certificate", new Blob([await pushCertificateFor(key, t.clock.now())]), "c.pem");
    form.append("private_key", new Blob([pemOfKey(key)]), "k.pem");
    const headers = { authorization: `Bearer ${t.token}`, "dry-run": "true" };
    expect((await t.raw(UPLOAD, { method: "POST", headers, body: form })).status).toBe(200);
    expect(await enabled(t)).toBe(false);
  });
});

describe("a request for a push certificate", () => {
  it("is a certificate request that openssl verifies", async () => {
    const t = await startApp();
    const dir = newDir();
    await writeFile(join(dir, "csr.pem"), await csrOf(t));
    const text = await openssl(dir, "req", "-in", "csr.pem", "-verify", "-noout", "-text");
    expect(text).toContain("CN = svc push certificate, O = Test, emailAddress = ada@example.com");
    expect(text).toContain("Public-Key: (2048 bit)");
  });

  it("is signed with the vendor's certificate, if the server has one", async () => {
    const dir = await mkdtemp(join(tmpdir(), "svc-vendor-"));
    const make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650", "-subj", "/CN=Vendor"];
    await openssl(dir, ...make, "-keyout", "key.pem", "-out", "cert.pem");
    const vendorSettings = { apple_vendor_cert: join(dir, "cert.pem"), apple_vendor_key: join(dir, "key.pem") };
    const t = await startApp({ settings: vendorSettings });
    const plist = await csrOf(t);
    const textAt = (key: string) => new RegExp(`<key>${key}</key>\\s*<string>([^<]*)</string>`).exec(plist)![1]!;
    const request = Buffer.from(textAt("PushCertRequestCSR"), "base64");
    const vendor = new X509Certificate(textAt("PushCertCertificateChain"));
    expect(verify("sha256", request, vendor.publicKey, Buffer.from(textAt("PushCertSignature"), "base64"))).toBe(true);
    const key = readRequest(request).publicKey;
    expect((await upload(t, { certificate: await pushCertificateFor(key, t.clock.now()) })).status).toBe(200);
    expect(await status(t)).toMatchObject({ signs_requests: true, signs_profiles: false });
    const wrong = { ...t.services.settings, apple_vendor_key: undefined };
    await expect(loadSigners(wrong)).rejects.toThrow("apple_vendor_cert and apple_vendor_key: both must be set");
    await openssl(dir, "genrsa", "-out", "other.pem", "2048");
    const other = { ...t.services.settings, apple_vendor_key: join(dir, "other.pem") };
    await expect(loadSigners(other)).rejects.toThrow("is not the key of the certificate");
    const missing = { ...t.services.settings, apple_profile_cert: "/nowhere", apple_profile_key: "/nowhere" };
    await expect(loadSigners(missing)).rejects.toThrow("apple_profile_cert: ENOENT");
  });
});
