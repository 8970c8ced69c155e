// A simulated Apple device, which speaks only the wire: it gets an identity by SCEP, checks in, and answers commands.
import { type KeyObject, randomBytes, randomUUID } from "node:crypto";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { makeScepRequest, messageTypes, readScepReply } from "../../src/pki/scep.ts";
import { signData } from "../../src/pki/signed-data.ts";
import { newKey, readCertificate } from "../../src/pki/x509.ts";
import { readPlistDict } from "../../src/plist/read.ts";
import { dictIn, dictsIn, type PlistDict, stringIn } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import type { Facts } from "../../src/server/certificates/device-ca/tables.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import type { TestApp } from "./app.ts";

const SCEP = "/mdm/vendora/scep?operation=";
export const CHANNEL = "/mdm/vendora/mdm";
const name = parseName("/CN=svc identity/O=svc");
/** RSA keys take long to make: devices of different tests may share one. */
const keys: Promise<KeyObject>[] = [];

export interface Identity {
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** A new identity for a device of the team, with the key of this number. */
export async function newIdentity(
  t: TestApp,
  teamId: number | null = null,
  index = 0,
  facts: Facts = { kind: "manual" },
): Promise<Identity> {
  const challenge = await newChallenge(
    { ...t.services, store: t.store },
    { purpose: "apple_enrollment", team_id: teamId, facts },
  );
  return identityFor(t, challenge, index);
}

/** The payload of this type in a profile. */
export const payloadIn = (profile: PlistDict, type: string): PlistDict | undefined =>
  dictsIn(profile, "PayloadContent").find((one) => stringIn(one, "PayloadType") === type);

/** The identity that a profile lets a device get, with the key of this number. */
export async function identityFrom(t: TestApp, profile: Buffer, index = 0): Promise<Identity> {
  const scep = dictIn(payloadIn(readPlistDict(profile), "com.apple.security.scep")!, "PayloadContent")!;
  return identityFor(t, stringIn(scep, "Challenge")!, index);
}

/** A device that installs the enrollment profile, with the key of this number. */
export const installProfile = async (t: TestApp, profile: Buffer, more: PlistDict = {}, index = 0) =>
  appleDevice(t, await identityFrom(t, profile, index), more);

/** The identity for this challenge, with the key of this number. */
export async function identityFor(t: TestApp, challenge: string, index: number): Promise<Identity> {
  keys[index] ??= newKey();
  const key = await keys[index];
  const ca = readCertificate(Buffer.from(await (await t.raw(`${SCEP}GetCACert`)).arrayBuffer()));
  const signer = { certificate: selfSigned(name, key, randomBytes(8), t.clock.now()), key };
  const transaction = { id: randomUUID(), nonce: randomBytes(16) };
  const message = makeScepRequest({
    type: messageTypes.pkcsReq,
    transaction,
    content: makeRequest(name, key, challenge),
    signer: { ...signer, digest: "sha256" },
    recipient: ca,
    cipher: "aes-128-cbc",
  });
  const reply = await t.raw(`${SCEP}PKIOperation`, {
    method: "POST",
    headers: { "content-type": "application/x-pki-message" },
    body: new Uint8Array(message),
  });
  const read = readScepReply(Buffer.from(await reply.arrayBuffer()), [ca], transaction, signer);
  if (read.status !== "success") throw new Error(`no identity: ${JSON.stringify(read)}`);
  return { certificate: read.certificates[0]!.der, key };
}

export interface AppleCommand {
  readonly uuid: string;
  readonly type: string;
  readonly command: PlistDict;
}

export function appleDevice(t: TestApp, identity: Identity, more: PlistDict = {}) {
  const udid = stringIn(more, "UDID") ?? randomUUID().toUpperCase();
  const facts: PlistDict = {
    UDID: udid,
    SerialNumber: `C02${udid.slice(0, 8)}`,
    ProductName: "MacBookPro18,3",
    DeviceName: "Ana's Mac",
    OSVersion: "15.1",
    BuildVersion: "24B83",
    ...more,
  };
  const raw = (body: Buffer, type = "", signed: Buffer = body) =>
    t.raw(CHANNEL, {
      method: "PUT",
      headers: {
        ...(type === "" ? {} : { "content-type": type }),
        "mdm-signature": signData(signed, { ...identity, digest: "sha256" }, {}, { detached: true }).toString("base64"),
      },
      body: new Uint8Array(body),
    });
  const send = (message: PlistDict, type = "") => raw(Buffer.from(writePlist(message)), type);
  const checkIn = (MessageType: string, fields: PlistDict = {}) =>
    send({ MessageType, UDID: udid, ...fields }, "application/x-apple-aspen-mdm-checkin");
  const poll = async (fields: PlistDict): Promise<AppleCommand | null> => {
    const response = await send({ UDID: udid, ...fields });
    if (response.status !== 200) throw new Error(`the channel answered ${response.status}`);
    const body = Buffer.from(await response.arrayBuffer());
    if (body.length === 0) return null;
    const message = readPlistDict(body);
    const command = dictIn(message, "Command")!;
    return { uuid: stringIn(message, "CommandUUID")!, type: stringIn(command, "RequestType")!, command };
  };
  return {
    udid,
    raw,
    send,
    checkIn,
    authenticate: () => checkIn("Authenticate", { Topic: "com.apple.mgmt.test", ...facts }),
    tokenUpdate: (fields: PlistDict = {}) =>
      checkIn("TokenUpdate", {
        Topic: "com.apple.mgmt.test",
        Token: Buffer.from("3q2+7w==", "base64"),
        PushMagic: "magic",
        ...fields,
      }),
    idle: () => poll({ Status: "Idle" }),
    answer: (CommandUUID: string, Status: string, fields: PlistDict = {}) => poll({ CommandUUID, Status, ...fields }),
  };
}

interface EnrolledAt {
  readonly teamId?: number | null;
  /** Number of its key; devices of one test need different ones. */
  readonly key?: number;
}

/** A device that has enrolled, and the id of its host. */
export async function enrolledDevice(t: TestApp, more: PlistDict = {}, { teamId = null, key = 0 }: EnrolledAt = {}) {
  const identity = await newIdentity(t, teamId, key);
  const device = appleDevice(t, identity, more);
  for (const response of [
    await device.authenticate(),
    await device.tokenUpdate({ UnlockToken: Buffer.from("unlock") }),
  ])
    if (response.status !== 200) throw new Error(`the check-in was answered with ${response.status}`);
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
  return { device, identity, id: row!.host_id };
}
