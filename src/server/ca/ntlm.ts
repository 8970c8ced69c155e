// The last message of NTLM authentication ([MS-NLMP] 2.2.1.3). Only version 2 is supported: version 1 responses can
// be cracked.
import { createHmac } from "node:crypto";

export interface Ntlm2 {
  /** 8 bytes. */
  readonly serverChallenge: Buffer;
  readonly targetInfo: Buffer;
  /** 8 random bytes. */
  readonly clientChallenge: Buffer;
  /** Milliseconds since 1970. Used if the server does not send its time. */
  readonly now: number;
  readonly domain: string;
  readonly username: string;
  /** MD4 of the password in UTF-16. Node no longer supports MD4. */
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
export function authenticateMessage(given: Ntlm2): Buffer {
  const { nt, lm } = responses(given);
  const parts = [lm, nt, utf16(given.domain), utf16(given.username), Buffer.alloc(0), Buffer.alloc(0)];
  const head = Buffer.alloc(HEAD);
  head.write("NTLMSSP\0", 0, "latin1");
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

/** Section 3.3.2: NTLM v2 authentication. */
function responses({ serverChallenge, targetInfo, clientChallenge, now, domain, username, passwordHash }: Ntlm2) {
  const key = hmac(passwordHash, utf16(username.toUpperCase() + domain));
  const told = timeIn(targetInfo);
  const blob = Buffer.concat([
    Buffer.from([1, 1, 0, 0, 0, 0, 0, 0]),
    told ?? fileTime(now),
    clientChallenge,
    Buffer.alloc(4),
    targetInfo,
    Buffer.alloc(4),
  ]);
  const nt = Buffer.concat([hmac(key, serverChallenge, blob), blob]);
  // If the server sends its time, the LM response is omitted (3.1.5.1.2).
  const lm = told ? Buffer.alloc(24) : Buffer.concat([hmac(key, serverChallenge, clientChallenge), clientChallenge]);
  return { nt, lm };
}

function fileTime(now: number): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64LE((BigInt(Math.trunc(now)) + TO_FILETIME_MS) * 10_000n);
  return time;
}

/** The server's time from its target information (2.2.2.1). */
function timeIn(info: Buffer): Buffer | null {
  for (let at = 0; at + 4 <= info.length; at += 4 + info.readUInt16LE(at + 2)) {
    const id = info.readUInt16LE(at);
    if (id === 0) return null;
    if (id === TIMESTAMP && at + 12 <= info.length) return info.subarray(at + 4, at + 12);
  }
  return null;
}
