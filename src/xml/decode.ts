// The encoding of an XML document: its byte order mark, or what its declaration names (XML 1.0, appendix F).
import { XmlProblem } from "./xml.ts";

/** The declaration stands at the beginning. */
const DECLARATION_MAX = 1024;
const DECLARED = /^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,39})["']/;

/** Decodes a document in any encoding of the web (WHATWG). Throws `XmlProblem` for bytes that are not in it. */
export const decodeXml = (bytes: Uint8Array, { isCut = false } = {}): string =>
  decoded(bytes, encodingOf(bytes), isCut);

/** Decodes a message whose protocol allows nothing but UTF-8, so that no two readers can take it for different texts. */
export function utf8(bytes: Uint8Array): string {
  if (encodingOf(bytes) !== "utf-8") throw notIn("utf-8");
  return decoded(bytes, "utf-8");
}

/** `isCut`: the bytes are the beginning of a document, and may end inside of a character. */
function decoded(bytes: Uint8Array, encoding: string, isCut = false): string {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch {
    throw new XmlProblem(`its encoding ${encoding} is not known`);
  }
  try {
    return decoder.decode(bytes, { stream: isCut });
  } catch {
    throw notIn(encoding);
  }
}

const notIn = (encoding: string) => new XmlProblem(`it is not in ${encoding.toUpperCase()}`);

function encodingOf(bytes: Uint8Array): string {
  const [a, b, c, d] = bytes;
  const isUtf32 = (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff);
  if (isUtf32) return "utf-32";
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  if (a === 0xef && b === 0xbb && c === 0xbf) return "utf-8";
  if (a === 0x3c && b === 0 && c === 0x3f && d === 0) return "utf-16le";
  if (a === 0 && b === 0x3c && c === 0 && d === 0x3f) return "utf-16be";
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, DECLARATION_MAX));
  const label = DECLARED.exec(start.toString("latin1"))?.[1]?.toLowerCase() ?? "utf-8";
  // A declaration that can be read byte by byte is not in an encoding of two bytes: somebody has converted the file.
  return /^(?:utf-?16|ucs-?2|utf-?32|ucs-?4|iso-10646-ucs)/.test(label) || label === "utf8" ? "utf-8" : label;
}
