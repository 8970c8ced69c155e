// Configuration profiles of Apple devices: property lists, plain or signed.
import { BadCms } from "../../../../pki/cms.ts";
import { BadDer } from "../../../../pki/der.ts";
import { readSignedData } from "../../../../pki/signed-data.ts";
import { readPlistDict } from "../../../../plist/read.ts";
import { BadPlist, isDict, type PlistDict, type PlistValue, stringIn } from "../../../../plist/value.ts";
import { withoutDataVariables } from "../../../../text/data-variables.ts";
import { decodeXml } from "../../../../xml/decode.ts";
import { XmlProblem } from "../../../../xml/xml.ts";
import { invalid } from "../../../platform/core/errors.ts";
import type { ProfileFile, ReadProfile } from "../../profiles/platform.ts";
import { isLate, namesIn } from "../../profiles/variables.ts";
import { comparable, isOwnIdentifier } from "./own.ts";

const FIELD = "profile";
const VARIABLE = /\$\{?SVC_(VAR|SECRET|HOST_VITAL)_/;

/** Payloads that would take the device out of the server's hands, or that the server makes itself. */
const USE_DISK_ENCRYPTION = "turn on disk encryption in the settings of the team instead";
const refusedPayloads: ReadonlyMap<string, string> = new Map([
  ["com.apple.mdm", "it would enroll the device elsewhere"],
  ["com.apple.mcx.filevault2", USE_DISK_ENCRYPTION],
  ["com.apple.security.fderecoverykeyescrow", USE_DISK_ENCRYPTION],
  ["com.apple.security.fderecoveryredirect", USE_DISK_ENCRYPTION],
]);
const MCX = "com.apple.mcx";
const FILEVAULT_KEYS: readonly string[] = ["dontallowfdedisable", "dontallowfdeenable"];

/** Null: the file is neither a property list nor signed data. */
export function readMobileconfig({ bytes }: ProfileFile): ReadProfile | null {
  const input = Buffer.from(bytes);
  const content = isDer(input) ? signedContent(input) : input;
  const isBinary = content.subarray(0, 8).toString("latin1") === "bplist00";
  if (!isBinary && !isXml(content)) return null;
  const isUtf8 = !isBinary && !isOfTwoBytes(content);
  // Replacing would break the signature, or the offsets of the binary format.
  if (
    (isDer(input) || !isUtf8) &&
    VARIABLE.test((isUtf8 || isBinary ? null : decoded(content)) ?? content.toString("latin1"))
  )
    throw invalid(FIELD, "variables can be used in plain XML profiles only, in UTF-8, not in signed or binary ones");
  const profile = parsed(isUtf8 ? withoutDataVariables(content) : content);
  if (stringIn(profile, "PayloadType") !== "Configuration")
    throw invalid(FIELD, "the PayloadType of the profile has to be Configuration");
  const identifier = required(profile, "PayloadIdentifier");
  const name = required(profile, "PayloadDisplayName");
  checkIdentifier(identifier);
  const payloads = profile.PayloadContent ?? [];
  if (!Array.isArray(payloads)) throw invalid(FIELD, "the PayloadContent of the profile has to be an array");
  for (const payload of payloads as readonly PlistValue[]) checkPayload(payload);
  return { letter: "a", kind: "profile", name, identifier };
}

const isDer = (bytes: Buffer): boolean => bytes[0] === 0x30;
const START_MAX = 200;
const isXml = (bytes: Buffer): boolean => /^\uFEFF?\s*<(\?xml|!DOCTYPE plist|plist)/.test(startOf(bytes));
/** UTF-16 has a zero byte in every letter of ASCII. */
const isOfTwoBytes = (bytes: Buffer): boolean => bytes.subarray(0, START_MAX).includes(0);

function startOf(bytes: Buffer): string {
  const start = bytes.subarray(0, START_MAX);
  return (isOfTwoBytes(bytes) ? decoded(start, true) : null) ?? start.toString("utf8");
}

/** Null: the bytes are not in the encoding that they begin with. */
function decoded(bytes: Buffer, isCut = false): string | null {
  try {
    return decodeXml(bytes, { isCut });
  } catch (error) {
    if (error instanceof XmlProblem) return null;
    throw error;
  }
}

/** Unwraps signed content. Whose signature it is does not matter: the device checks it. */
function signedContent(bytes: Buffer): Buffer {
  try {
    const { content } = readSignedData(bytes);
    if (content !== null) return content;
  } catch (error) {
    if (!(error instanceof BadCms) && !(error instanceof BadDer)) throw error;
  }
  throw invalid(FIELD, "the file is not a signed profile: its signed data cannot be read");
}

function parsed(content: Buffer): PlistDict {
  try {
    return readPlistDict(content);
  } catch (error) {
    if (error instanceof BadPlist) throw invalid(FIELD, `the profile cannot be read: ${error.message}`);
    throw error;
  }
}

function required(dict: PlistDict, key: string): string {
  const text = stringIn(dict, key)?.trim() ?? "";
  if (text === "") throw invalid(FIELD, `the profile has no ${key}`);
  return text;
}

function checkIdentifier(identifier: string): void {
  if (isOwnIdentifier(identifier))
    throw invalid(FIELD, `the identifier ${JSON.stringify(identifier)} is reserved for the server`);
}

/** At any depth. */
const keysIn = (value: PlistValue): string[] => {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return isDict(value) ? Object.entries(value).flatMap(([key, inner]) => [key, ...keysIn(inner)]) : [];
};

function checkPayload(payload: PlistValue): void {
  if (!isDict(payload)) throw invalid(FIELD, "each member of PayloadContent has to be a dictionary");
  const type = stringIn(payload, "PayloadType") ?? "";
  for (const text of [type, stringIn(payload, "PayloadIdentifier") ?? "", ...keysIn(payload)])
    if (namesIn(text).some(isLate))
      throw invalid(
        FIELD,
        `${text} cannot contain a secret: types, identifiers and keys of payloads are checked before secrets are filled in`,
      );
  if (comparable(type) === "") throw invalid(FIELD, "a payload of the profile has no PayloadType");
  const identifier = stringIn(payload, "PayloadIdentifier");
  if (identifier !== null) checkIdentifier(identifier);
  const reason = refusedPayloads.get(comparable(type));
  if (reason !== undefined) throw invalid(FIELD, `payloads of the type ${type} cannot be uploaded: ${reason}`);
  if (comparable(type) === MCX && Object.keys(payload).some((key) => FILEVAULT_KEYS.includes(comparable(key))))
    throw invalid(FIELD, `payloads of the type com.apple.MCX cannot have FileVault keys: ${USE_DISK_ENCRYPTION}`);
}
