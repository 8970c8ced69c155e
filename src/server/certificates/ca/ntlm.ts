// The three messages of NTLM authentication ([MS-NLMP] 2.2.1). Only version 2 is supported: version 1 responses can be
// cracked. MD4 of the password comes from a library, because Node no longer supports it.
import { createHmac } from "node:crypto";

/** Unicode, OEM, request target, NTLM, always sign, extended session security. */
const OFFERED = 0x00088207;
const UNICODE = 0x1;
const TARGET_INFO = 0x00800000;
const SIGNATURE = "NTLMSSP\0";

export class BadNtlm extends Error {}

/** Encodes the NEGOTIATE_MESSAGE, without a domain or workstation. */
export function negotiateMessage(): Buffer {
  const message = Buffer.alloc(32);
  message.write(SIGNATURE, 0, "latin1");
  message.writeUInt32LE(1, 8);
  message.writeUInt32LE(OFFERED, 12);
  return message;
}

export interface Challenge {
  /** 8 bytes. */
  readonly serverChallenge: Buffer;
  /** Null: the server supports only version 1, or no Unicode. */
  readonly targetInfo: Buffer | null;
}

/** Decodes the CHALLENGE_MESSAGE. Throws `BadNtlm` if it is another message, or cut short. */
export function readChallenge(message: Buffer): Challenge {
  if (message.length < 32 || message.toString("latin1", 0, 8) !== SIGNATURE || message.readUInt32LE(8) !== 2)
    throw new BadNtlm("not a challenge message");
  const flags = message.readUInt32LE(20);
  const serverChallenge = message.subarray(24, 32);
  if ((flags & UNICODE) === 0 || (flags & TARGET_INFO) === 0) return { serverChallenge, targetInfo: null };
  if (message.length < 48) throw new BadNtlm("cut short");
  const [length, offset] = [message.readUInt16LE(40), message.readUInt32LE(44)];
  if (offset + length > message.length) throw new BadNtlm("the target information lies outside of the message");
  return { serverChallenge, targetInfo: message.subarray(offset, offset + length) };
}

export async function passwordHashOf(password: string): Promise<Buffer> {
  const { default: md4 } = await import("js-md4");
  return Buffer.from(md4.arrayBuffer(utf16(password)));
}

interface Ntlm2 {
  /** 8 bytes. */
  readonly serverChallenge: Buffer;
  readonly targetInfo: Buffer;
  /** 8 random bytes. */
  readonly clientChallenge: Buffer;
  /** Milliseconds since 1970. Used if the server does not send its time. */
  readonly now: number;
  readonly domain: string;
  readonly username: string;
  /** MD4 of the password in UTF-16. */
  readonly passwordHash: Buffer;
}

const hmac = (key: Buffer, ...parts: Buffer[]): Buffer => createHmac("md5", key).update(Buffer.concat(parts)).digest();
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");

/** Unicode, request target, NTLM, always sign, extended session security, target information. */
const FLAGS = 0x00888205;
const HEAD = 64;
/** Milliseconds between 1601 and 1970. */
const TO_FILETIME_MS = 11_644_473_600_000n;
const TIMESTAMP = 7;

/** Encodes the AUTHENTICATE_MESSAGE. */
export function authenticateMessage(input: Ntlm2): Buffer {
  const { nt, lm } = responses(input);
  const parts = [lm, nt, utf16(input.domain), utf16(input.username), Buffer.alloc(0), Buffer.alloc(0)];
  const head = Buffer.alloc(HEAD);
  head.write(SIGNATURE, 0, "latin1");
  head.writeUInt32LE(3, 8);
  let offset = HEAD;
  for (const [i, part] of parts.entries()) {
    const at = 12 + 8 * i;
    head.writeUInt16LE(part.length, at);
    head.writeUInt16LE(part.length, at + 2);
    head.writeUInt32LE(offset, at + 4);
    offset += part.length;
  }
  head.writeUInt32LE(FLAGS, 60);
  return Buffer.concat([head, ...parts]);
}

/** NTLM v2 authentication (MS-NLMP, 3.3.2). */
function responses({ serverChallenge, targetInfo, clientChallenge, now, domain, username, passwordHash }: Ntlm2) {
  const key = hmac(passwordHash, utf16(username.toUpperCase() + domain));
  const serverTime = timeIn(targetInfo);
  const blob = Buffer.concat([
    Buffer.from([1, 1, 0, 0, 0, 0, 0, 0]),
    serverTime ?? fileTime(now),
    clientChallenge,
    Buffer.alloc(4),
    targetInfo,
    Buffer.alloc(4),
  ]);
  const nt = Buffer.concat([hmac(key, serverChallenge, blob), blob]);
  // If the server sends its time, the LM response is omitted (MS-NLMP, 3.1.5.1.2).
  const lm = serverTime
    ? Buffer.alloc(24)
    : Buffer.concat([hmac(key, serverChallenge, clientChallenge), clientChallenge]);
  return { nt, lm };
}

function fileTime(now: number): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64LE((BigInt(Math.trunc(now)) + TO_FILETIME_MS) * 10_000n);
  return time;
}

/** The server's time from its target information (MS-NLMP, 2.2.2.1). */
function timeIn(info: Buffer): Buffer | null {
  for (let at = 0; at + 4 <= info.length; at += 4 + info.readUInt16LE(at + 2)) {
    const id = info.readUInt16LE(at);
    if (id === 0) return null;
    if (id === TIMESTAMP && at + 12 <= info.length) return info.subarray(at + 4, at + 12);
  }
  return null;
}
