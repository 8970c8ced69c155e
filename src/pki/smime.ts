// S/MIME messages with enveloped data (RFC 8551, 3.3): what portals send as a file, such as `smime.p7m`.
import { BadCms } from "./cms.ts";

/** The longest line of a header that is accepted, and the most headers. */
const HEADERS = /^(?:[!-9;-~]+:[^\r\n]{0,2000}(?:\r?\n[ \t][^\r\n]{0,2000})*\r?\n){1,50}\r?\n/;

/** The CMS message inside: base64 below MIME headers, bare base64, PEM, or DER as it is. */
export function cmsIn(file: Buffer): Buffer {
  if (file[0] === 0x30) return file;
  const text = file.toString("latin1");
  const body = text
    .replace(HEADERS, "")
    .replace(/-----(BEGIN|END) [A-Z0-9 ]+-----/g, "")
    .replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(body)) throw new BadCms("not an S/MIME message in base64");
  return Buffer.from(body, "base64");
}
