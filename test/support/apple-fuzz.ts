// Messages of enrolled Apple devices that are changed in a few places: the property list, its signature, requests for
// certificates. The same seed produces the same changes.
import { randomBytes, randomUUID } from "node:crypto";
import { selfSigned } from "../../src/pki/issue.ts";
import { parseName } from "../../src/pki/names.ts";
import { makeRequest } from "../../src/pki/request.ts";
import { makeScepRequest, messageTypes } from "../../src/pki/scep.ts";
import type { Certificate } from "../../src/pki/x509.ts";
import type { PlistDict, PlistValue } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { type DeviceIdentity, messageSignature } from "../../src/simulator/scep.ts";
import { changeBytes } from "./agent-fuzz.ts";
import { Dice } from "./request-fuzz.ts";

/** 404 is for declarations that do not exist, 429 refuses whoever fails too often, and 503 refuses load. */
const ALLOWED: ReadonlySet<number> = new Set([200, 400, 403, 404, 410, 413, 429, 503]);
/** The number of messages after which the devices enroll again, and another one is served. */
const LOOK_EVERY = 500;
const FAULTS_MAX = 10;
/** A reply that takes longer counts as one that never comes. */
const HANGS_AFTER_MS = 20_000;
const CHECK_IN = "application/x-apple-aspen-mdm-checkin";
const subject = parseName("/CN=svc identity/O=svc");

export interface FuzzedDevice {
  readonly udid: string;
  readonly identity: DeviceIdentity;
}

export interface AppleFuzz {
  /** Sends a message to the channel or, as POST, to the SCEP server. Returns the status. */
  send(to: "channel" | "scep", body: Buffer, headers: Record<string, string>): Promise<number>;
  /** The first one is left alone, and has to be served all the time. */
  readonly devices: readonly FuzzedDevice[];
  readonly ca: Certificate;
  readonly messages: number;
  readonly seed: number;
  readonly together: number;
  /** Called now and then, with the number of messages so far. */
  look?(sent: number): Promise<void>;
}

export interface AppleFuzzReport {
  readonly faults: readonly string[];
  readonly byStatus: Readonly<Record<number, number>>;
}

interface ChangedBytes {
  readonly to: "channel" | "scep";
  readonly body: Buffer;
  readonly headers: Record<string, string>;
}

export async function fuzzApple({ send, devices, ca, seed, together, ...rest }: AppleFuzz): Promise<AppleFuzzReport> {
  const dice = new Dice(seed);
  const faults: string[] = [];
  const byStatus: Record<number, number> = {};
  const [bystander, ...attackers] = devices;
  const enroll = async (device: FuzzedDevice) => {
    for (const message of enrollment(device)) {
      const { to, body, headers } = signed(device, Buffer.from(writePlist(message)), CHECK_IN);
      const status = await send(to, body, headers);
      if (status !== 200) throw new Error(`${String(message.MessageType)} of a device is answered with ${status}`);
    }
  };
  for (const device of devices) await enroll(device);

  const one = async () => {
    const { to, body, headers } = changedMessage(dice, dice.pick(attackers), ca);
    const status = await withLimit(send(to, body, headers));
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    if (!ALLOWED.has(status)) faults.push(`${to}: ${status || "no answer"}\n${body.toString("latin1").slice(0, 1000)}`);
  };
  for (let sent = 0; sent < rest.messages && faults.length < FAULTS_MAX; sent += together) {
    await Promise.all(Array.from({ length: together }, one));
    if (sent % LOOK_EVERY >= together) continue;
    for (const device of attackers)
      await enroll(device).catch((error: unknown) => faults.push(`after ${sent}: ${error}`));
    const { to, body, headers } = signed(
      bystander!,
      Buffer.from(writePlist({ UDID: bystander!.udid, Status: "Idle" })),
    );
    const status = await send(to, body, headers);
    if (status !== 200) faults.push(`after ${sent}: another device is answered with ${status}`);
    await rest.look?.(sent);
  }
  return { faults, byStatus };
}

/** 0: no answer in time. */
async function withLimit(status: Promise<number>): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<number>((resolve) => {
    timer = setTimeout(() => resolve(0), HANGS_AFTER_MS);
  });
  return Promise.race([status, late]).finally(() => clearTimeout(timer));
}

const enrollment = ({ udid }: FuzzedDevice): PlistDict[] => [
  {
    MessageType: "Authenticate",
    UDID: udid,
    Topic: "com.apple.mgmt.test",
    SerialNumber: `C02${udid.slice(0, 8)}`,
    ProductName: "MacBookPro18,3",
    DeviceName: "A Mac",
    OSVersion: "15.1",
    BuildVersion: "24B83",
  },
  { MessageType: "TokenUpdate", UDID: udid, Topic: "com.apple.mgmt.test", Token: Buffer.from("ab"), PushMagic: "m" },
];

/** What a device sends after it has enrolled. */
const later = ({ udid: UDID }: FuzzedDevice): PlistDict[] => [
  { UDID, MessageType: "SetBootstrapToken", BootstrapToken: Buffer.from("token") },
  { UDID, MessageType: "GetBootstrapToken" },
  { UDID, MessageType: "GetToken", TokenServiceType: "com.apple.maid" },
  { UDID, MessageType: "UserAuthenticate", UserID: randomUUID() },
  { UDID, MessageType: "TokenUpdate", UserID: "FFFF-1", UserShortName: "ana", Token: Buffer.from("c"), PushMagic: "p" },
  { UDID, MessageType: "DeclarativeManagement", Endpoint: "tokens" },
  { UDID, MessageType: "DeclarativeManagement", Endpoint: "declaration/configuration/com.example.a" },
  {
    UDID,
    MessageType: "DeclarativeManagement",
    Endpoint: "status",
    Data: Buffer.from(JSON.stringify({ StatusItems: { management: { declarations: { configurations: [{}] } } } })),
  },
  { UDID, MessageType: "CheckOut" },
];

const answers = ({ udid: UDID }: FuzzedDevice): PlistDict[] => [
  { UDID, Status: "Idle" },
  { UDID, Status: "NotNow", CommandUUID: randomUUID() },
  { UDID, Status: "Error", CommandUUID: randomUUID(), ErrorChain: [{ ErrorCode: 1, LocalizedDescription: "no" }] },
  {
    UDID,
    Status: "Acknowledged",
    CommandUUID: randomUUID(),
    QueryResponses: { OSVersion: "17.1", DeviceCapacity: 64.5, IsSupervised: true, Dates: [new Date(0)] },
  },
];

const values: readonly PlistValue[] = [
  "",
  "-1",
  "x".repeat(300),
  "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
  "../../etc/passwd",
  "9".repeat(5000),
  0,
  -1,
  2 ** 53,
  1.5,
  true,
  new Date(253402300799000),
  Buffer.alloc(0),
  Buffer.alloc(5000, 0xff),
  [],
  [[[[]]]],
  {},
  { "": { "": [] } },
  Array.from({ length: 300 }, (_, i) => ({ Name: `n${i}` })),
];
/** Text that property lists should not have. */
const pieces = [
  '<!DOCTYPE p [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
  "&b;",
  "<dict>".repeat(200),
  "<array>",
  "</dict>",
  "<integer>99999999999999999999</integer>",
  "<date>never</date>",
  "<data>====</data>",
  "<![CDATA[",
  "]]>",
  "<!--",
  "&#0;",
  "\u0000",
  "\ufffe",
];

function changedMessage(dice: Dice, device: FuzzedDevice, ca: Certificate): ChangedBytes {
  if (dice.chance(0.25)) return changedRequest(dice, device, ca);
  const isCheckIn = dice.chance(0.6);
  const messages = isCheckIn ? [...enrollment(device), ...later(device)] : answers(device);
  const message: Record<string, PlistValue> = { ...dice.pick(messages) };
  for (let i = dice.int(3); i > 0; i--) {
    const key = dice.pick([...Object.keys(message), "EnrollmentID", "UserID", "__proto__", ""]);
    if (dice.chance(0.2)) delete message[key];
    else
      Object.defineProperty(message, key, {
        value: dice.pick(values),
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  let body: Buffer = Buffer.from(writePlist(message));
  if (dice.chance(0.3)) {
    const at = dice.int(body.length + 1);
    body = Buffer.concat([body.subarray(0, at), Buffer.from(dice.pick(pieces)), body.subarray(at)]);
  }
  if (dice.chance(0.3)) body = changeBytes(dice, body);
  if (dice.chance(0.05)) body = Buffer.concat([Buffer.from("bplist00"), randomBytes(dice.int(80))]);
  const sent = signed(device, body, isCheckIn ? CHECK_IN : "application/xml");
  if (!dice.chance(0.25)) return sent;
  const signature = changeBytes(dice, Buffer.from(sent.headers["mdm-signature"]!, "base64"));
  return { ...sent, headers: { ...sent.headers, "mdm-signature": signature.toString("base64") } };
}

const signed = ({ identity }: FuzzedDevice, body: Buffer, type = "application/xml"): ChangedBytes => ({
  to: "channel",
  body,
  headers: { "content-type": type, "mdm-signature": messageSignature(body, identity) },
});

/** A change of the request itself, of what is around it, or of both. */
function changedRequest(dice: Dice, { identity }: FuzzedDevice, ca: Certificate): ChangedBytes {
  const { key } = identity;
  let content: Buffer = makeRequest(subject, key, dice.pick(["", "challenge", "é".repeat(200)]));
  if (dice.chance(0.6)) content = changeBytes(dice, content);
  const certificate = dice.chance(0.5) ? identity.certificate : selfSigned(subject, key, randomBytes(8), Date.now());
  let body: Buffer = makeScepRequest({
    type: dice.pick([messageTypes.pkcsReq, messageTypes.renewalReq, messageTypes.certPoll]),
    transaction: { id: dice.pick(["", randomUUID(), "\u0000", "x".repeat(300)]), nonce: randomBytes(dice.int(80)) },
    content,
    signer: { certificate, key, digest: dice.pick(["sha1", "sha256", "sha512"]) },
    recipient: ca,
    cipher: dice.pick(["aes-128-cbc", "des-ede3-cbc"]),
  });
  if (dice.chance(0.6)) body = changeBytes(dice, body);
  return { to: "scep", body, headers: { "content-type": "application/x-pki-message" } };
}
