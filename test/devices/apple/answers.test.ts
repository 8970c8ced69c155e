// What Apple devices answer: lists of profiles, profiles that are not there, and answers that are too large.

import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toNodeHandler } from "h3/node";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../../../src/pki/issue.ts";
import { parseName } from "../../../src/pki/names.ts";
import { makeRequest } from "../../../src/pki/request.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../../../src/pki/scep.ts";
import { readSignedData, signData } from "../../../src/pki/signed-data.ts";
import { newKey, pem, readCertificate } from "../../../src/pki/x509.ts";
import { readPlistDict } from "../../../src/plist/read.ts";
import { bytesIn, type PlistDict, stringIn } from "../../../src/plist/value.ts";
import { writePlist } from "../../../src/plist/write.ts";
import { createApp } from "../../../src/server/app.ts";
import { reconcile } from "../../../src/server/devices/profiles/reconcile.ts";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import { hours } from "../../../src/server/platform/core/clock.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { allowEnrollment } from "../../support/apple.ts";
import { appleDevice, CHANNEL, enrolledDevice, type Identity } from "../../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { base64, mobileconfig } from "../../support/profiles.ts";

const IPHONE = { ProductName: "iPhone17,1", DeviceName: "Ana's iPhone", OSVersion: "18.1" };
type Device = Awaited<ReturnType<typeof enrolledDevice>>["device"];

type Answers = Readonly<Record<string, PlistDict>>;

/** The device answers everything that waits for it. Returns the types of the commands. */
async function work(
  device: Device,
  answers: Answers | ((sent: readonly string[]) => Answers),
  errors: Readonly<Record<string, PlistDict>> = {},
): Promise<string[]> {
  const types: string[] = [];
  for (let command = await device.idle(); command; ) {
    types.push(command.type);
    const error = errors[command.type];
    command = await (error
      ? device.answer(command.uuid, "Error", { ErrorChain: [error] })
      : device.answer(
          command.uuid,
          "Acknowledged",
          (typeof answers === "function" ? answers(types) : answers)[command.type] ?? {},
        ));
  }
  return types;
}

const listOf = (...identifiers: string[]) => ({
  ProfileList: { ProfileList: identifiers.map((PayloadIdentifier) => ({ PayloadIdentifier, PayloadUUID: "x" })) },
});
const setProfiles = async (t: TestApp, ...names: string[]) => {
  const configuration_profiles = names.map((name) => ({ profile: base64(mobileconfig(name)) }));
  expect((await t.post("/mdm/profiles/batch", { configuration_profiles })).status).toBe(204);
  await reconcile(t.services, {});
};
async function statuses(t: TestApp, id: number) {
  const rows = await t.store.hostProfiles.list({ where: eq("host_id", id) });
  return Object.fromEntries(rows.map(({ name, operation_type, status }) => [name, [operation_type, status]]));
}

describe.each(bothEngines)("the profiles of an iPhone on %s", (engine) => {
  it("are verified by its list as soon as they are installed, and sent again an hour after they were lost", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const { device, id } = await enrolledDevice(t, IPHONE);
    await work(device, listOf());
    await setProfiles(t, "wifi", "vpn");
    expect(await work(device, listOf("wifi", "com.example.other"))).toEqual([
      "InstallProfile",
      "InstallProfile",
      "ProfileList",
    ]);
    expect(await statuses(t, id)).toEqual({ wifi: ["install", "verified"], vpn: ["install", "verifying"] });
    t.clock.advance(hours(2));
    await runJob(t.services, "apple_details");
    // The server may send the profile again at once, within the same exchange, and then list what the device has.
    const commands = await work(device, (sent) =>
      sent.includes("InstallProfile") ? listOf("wifi", "vpn") : listOf("wifi"),
    );
    expect(commands).toContain("ProfileList");
    await reconcile(t.services, {});
    const installed = commands.indexOf("InstallProfile");
    const isListed = commands.lastIndexOf("ProfileList") > installed;
    const status = installed === -1 ? "pending" : isListed ? "verified" : "verifying";
    expect(await statuses(t, id)).toEqual({ wifi: ["install", "verified"], vpn: ["install", status] });
    await work(device, listOf("wifi", "vpn"));
    expect(await statuses(t, id)).toEqual({ wifi: ["install", "verified"], vpn: ["install", "verified"] });
  });

  it("are removed when the device does not have them any more, and other errors are shown", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const { device, id } = await enrolledDevice(t, IPHONE);
    for (const [ErrorDomain, ErrorCode, left] of [
      ["MCMDMErrorDomain", 12_075, {}],
      ["MDMClientError", 89, {}],
      ["MCMDMErrorDomain", 12_081, { wifi: ["remove", "failed"] }],
      ["NSPOSIXErrorDomain", 89, { wifi: ["remove", "failed"] }],
    ] as const) {
      await setProfiles(t, "wifi");
      await work(device, listOf("wifi"));
      await setProfiles(t);
      const USEnglishDescription = "The profile is not installed.";
      await work(device, listOf(), { RemoveProfile: { ErrorDomain, ErrorCode, USEnglishDescription } });
      expect(await statuses(t, id), `${ErrorDomain} ${ErrorCode}`).toEqual(left);
      await t.store.hostProfiles.delete(eq("host_id", id));
    }
  });
});

/** The device renews its identity with the old one (SCEP, RenewalReq). */
async function renewed(t: TestApp, old: Identity): Promise<Identity> {
  const scep = "/mdm/vendora/scep?operation=";
  const key = await newKey();
  const ca = readCertificate(Buffer.from(await (await t.raw(`${scep}GetCACert`)).arrayBuffer()));
  const signer = { certificate: old.certificate, key: old.key };
  const transaction = { id: randomUUID(), nonce: randomBytes(16) };
  const message = makeScepRequest({
    type: messageTypes.renewalReq,
    transaction,
    content: makeRequest(parseName("/CN=svc identity/O=svc"), key),
    signer: { ...signer, digest: "sha256" },
    recipient: ca,
    cipher: "aes-128-cbc",
  });
  const reply = await t.raw(`${scep}PKIOperation`, {
    method: "POST",
    headers: { "content-type": "application/x-pki-message" },
    body: new Uint8Array(message),
  });
  const read = readScepReply(Buffer.from(await reply.arrayBuffer()), [ca], transaction, signer);
  if (read.status !== "success") throw new Error(`no identity: ${JSON.stringify(read)}`);
  return { certificate: read.certificates[0]!.der, key };
}

describe.each(rulesEngines)("an Apple device on %s", (engine) => {
  it("renews its identity by SCEP, and the old one is then refused", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const ana = { UDID: "ANAS-MAC", SerialNumber: "C02ANA" };
    const { identity, device } = await enrolledDevice(t, ana);
    const { device: ben } = await enrolledDevice(t, { UDID: "BENS-MAC", SerialNumber: "C02BEN" }, { key: 1 });
    const first = await renewed(t, identity);
    const idle = async (one: Device) => (await one.send({ Status: "Idle", UDID: one.udid })).status;
    expect(await idle(appleDevice(t, first, { UDID: "BENS-MAC" })), "with another's UDID").toBe(403);
    expect(await idle(device), "the old one is valid until the new one is used").toBe(200);
    const next = appleDevice(t, first, ana);
    expect([await idle(next), await idle(device), await idle(ben)]).toEqual([200, 403, 200]);
    expect((await next.tokenUpdate()).status).toBe(200);
    const second = appleDevice(t, await renewed(t, first), ana);
    expect([await idle(second), await idle(next)]).toEqual([200, 403]);
    expect(await t.store.hosts.count()).toBe(2);
  });

  it("gets all profiles signed if a certificate for that is set", async () => {
    const key = await newKey();
    const certificate = selfSigned(parseName("/CN=profiles"), key, randomBytes(8), Date.now());
    const folder = await mkdtemp(join(tmpdir(), "profiles-"));
    const [apple_profile_cert, apple_profile_key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    await writeFile(apple_profile_cert, pem("CERTIFICATE", certificate));
    await writeFile(apple_profile_key, key.export({ type: "pkcs8", format: "pem" }));
    const t = await startApp({ engine, settings: { apple_profile_cert, apple_profile_key } });
    await allowEnrollment(t);
    const { device, id } = await enrolledDevice(t, {});
    const contentOf = (payload: Buffer) => {
      expect(payload[0], "DER").toBe(0x30);
      return stringIn(readPlistDict(Buffer.from(readSignedData(payload).content!)), "PayloadIdentifier");
    };
    const next = async () => {
      const { command, uuid } = (await device.idle())!;
      await device.answer(uuid, "Acknowledged");
      return bytesIn(command, "Payload")!;
    };
    await setProfiles(t, "wifi");
    expect(contentOf(await next())).toBe("wifi");
    const run = async (Payload: Buffer) => {
      const command = base64(
        writePlist({ CommandUUID: randomUUID(), Command: { RequestType: "InstallProfile", Payload } }),
      );
      expect(
        (await t.post("/commands/run", { command, host_uuids: [(await t.store.hosts.get(id))!.uuid] })).status,
      ).toBe(200);
      return next();
    };
    expect(contentOf(await run(Buffer.from(mobileconfig("custom"))))).toBe("custom");
    const own = signData(Buffer.from(mobileconfig("signed")), { certificate, key, digest: "sha256" });
    expect(await run(own), "signed already").toEqual(own);
  });
});

const MiB = 1024 * 1024;

describe.each(bothEngines)("a large answer on %s", (engine) => {
  it("of 10 MiB is stored, and a larger one is refused with 413 and does not hold up the device's queue", async () => {
    const t = await startApp({ engine });
    await allowEnrollment(t);
    const { device, identity, id } = await enrolledDevice(t, IPHONE);
    const server = createServer(
      toNodeHandler(createApp(t.services, { agent: t.agent, stop: async () => {} })) as RequestListener,
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const send = async (CommandUUID: string, bytes: number, isChunked: boolean) => {
        const message = { UDID: device.udid, Status: "Acknowledged", CommandUUID, Filler: "" };
        const Filler = "x".repeat(bytes - writePlist(message).length);
        const body = Buffer.from(writePlist({ ...message, Filler }));
        expect(body.length).toBe(bytes);
        const signature = signData(body, { ...identity, digest: "sha256" }, {}, { detached: true });
        const sent = isChunked ? new Blob([new Uint8Array(body)]).stream() : new Uint8Array(body);
        const init = { method: "PUT", headers: { "mdm-signature": signature.toString("base64") }, body: sent };
        return fetch(`http://127.0.0.1:${port}${CHANNEL}`, { ...init, ...(isChunked ? { duplex: "half" } : {}) });
      };
      const first = (await device.idle())!;
      expect((await send(first.uuid, 10 * MiB, false)).status).toBe(200);
      expect(await t.store.mdmCommands.first({ where: eq("command_uuid", first.uuid) })).toMatchObject({
        status: "Acknowledged",
      });
      for (const isChunked of [false, true]) {
        const { uuid, type } = (await device.idle())!;
        expect((await send(uuid, 12 * MiB, isChunked)).status).toBe(413);
        const next = await device.idle();
        expect(next?.type).not.toBe(type);
        const row = (await t.store.mdmCommands.first({ where: eq("command_uuid", uuid) }))!;
        expect(row).toMatchObject({ host_id: id, status: "Error", command_status: "failed" });
        expect(Buffer.from(row.result!, "base64").toString()).toContain("larger than 10 MiB");
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
