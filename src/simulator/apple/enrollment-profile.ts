// Reads the profile with which a device enrolls: where it gets its identity, and where it checks in.
import { type NameField, nameKeys } from "../../pki/names.ts";
import { readSignedData } from "../../pki/signed-data.ts";
import { readPlistDict } from "../../plist/read.ts";
import {
  arrayIn,
  booleanIn,
  bytesIn,
  dictIn,
  dictsIn,
  type PlistDict,
  type PlistValue,
  stringIn,
} from "../../plist/value.ts";
import type { ScepAccess } from "../scep.ts";

export interface EnrollmentProfile {
  readonly identifier: string;
  readonly scep: ScepAccess;
  readonly serverUrl: string;
  readonly checkInUrl: string;
  readonly topic: string;
  /** Devices whose profile does not ask for signed messages would show a client certificate, which these cannot. */
  readonly signsMessages: boolean;
}

/** The property list of a profile, signed or not. Throws if it is none. */
export function profileIn(bytes: Buffer): PlistDict {
  const isPlist = bytes[0] === 0x3c || bytes.subarray(0, 6).toString("latin1") === "bplist";
  return readPlistDict(isPlist ? bytes : (readSignedData(bytes).content ?? Buffer.alloc(0)));
}

export const payloadsIn = (profile: PlistDict): PlistDict[] => dictsIn(profile, "PayloadContent");

/** Throws an error that names what is missing. */
export function readEnrollmentProfile(bytes: Buffer): EnrollmentProfile {
  const profile = profileIn(bytes);
  const payloads = payloadsIn(profile);
  const mdm = payloads.find((payload) => stringIn(payload, "PayloadType") === "com.apple.mdm");
  if (!mdm) throw new Error("the enrollment profile has no payload com.apple.mdm");
  const identity = required(mdm, "IdentityCertificateUUID");
  const scepPayload = payloads.find((payload) => stringIn(payload, "PayloadUUID") === identity);
  const scep = scepPayload && dictIn(scepPayload, "PayloadContent");
  if (!scep) throw new Error("the enrollment profile does not contain the identity that it names");
  const serverUrl = required(mdm, "ServerURL");
  return {
    identifier: required(profile, "PayloadIdentifier"),
    scep: {
      url: required(scep, "URL"),
      name: stringIn(scep, "Name") ?? "",
      challenge: stringIn(scep, "Challenge") ?? "",
      subject: subjectIn(scep),
      fingerprint: bytesIn(scep, "CAFingerprint"),
    },
    serverUrl,
    checkInUrl: stringIn(mdm, "CheckInURL") ?? serverUrl,
    topic: required(mdm, "Topic"),
    signsMessages: booleanIn(mdm, "SignMessage") ?? false,
  };
}

function required(dict: PlistDict, key: string): string {
  const text = stringIn(dict, key);
  if (text === null || text === "") throw new Error(`the enrollment profile has no ${key}`);
  return text;
}

/** An array of arrays of pairs, such as `[[["O", "svc"]], [["CN", "svc identity"]]]`. */
function subjectIn(scep: PlistDict): NameField[] {
  const lists = (value: PlistValue): readonly PlistValue[] => (Array.isArray(value) ? value : []);
  return (arrayIn(scep, "Subject") ?? []).flatMap(lists).flatMap((pair) => {
    const [key, value] = lists(pair);
    return typeof key === "string" && typeof value === "string" && nameKeys.includes(key) ? [{ key, value }] : [];
  });
}
