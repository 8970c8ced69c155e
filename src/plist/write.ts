// Writes property lists in XML.
import { integer, type PlistValue } from "./value.ts";
import { iso } from "./xml.ts";

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
`;

/** The property list in XML. Throws for what XML 1.0 cannot contain: control characters, halves of characters, and NaN. */
export const writePlist = (value: PlistValue): string => `${HEAD}${element(value, "")}</plist>\n`;

function element(value: PlistValue, indent: string): string {
  const inner = `${indent}\t`;
  if (typeof value === "string") return `${indent}<string>${escaped(value)}</string>\n`;
  if (typeof value === "boolean") return `${indent}<${value}/>\n`;
  if (typeof value === "bigint") return `${indent}<integer>${integer(value)}</integer>\n`;
  if (typeof value === "number") return `${indent}${numberElement(value)}\n`;
  if (value instanceof Date) return `${indent}<date>${iso(value)}</date>\n`;
  if (Buffer.isBuffer(value)) return `${indent}<data>${value.toString("base64")}</data>\n`;
  if (Array.isArray(value)) return wrapped("array", indent, value.map((each) => element(each, inner)).join(""));
  const members = Object.entries(value).map(
    ([key, each]) => `${inner}<key>${escaped(key)}</key>\n${element(each, inner)}`,
  );
  return wrapped("dict", indent, members.join(""));
}

const wrapped = (name: string, indent: string, content: string): string =>
  content === "" ? `${indent}<${name}/>\n` : `${indent}<${name}>\n${content}${indent}</${name}>\n`;

function numberElement(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a property list cannot contain this number");
  return Number.isSafeInteger(value) ? `<integer>${value}</integer>` : `<real>${value}</real>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 does not allow.
export const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
// Readers would turn a carriage return into a line feed.
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

function escaped(text: string): string {
  if (NOT_XML.test(text)) throw new RangeError("a property list in XML cannot contain this text");
  return text.replace(/[&<>\r]/g, (found) => entities[found]!);
}
