// Writes property lists in XML.
import { xmlText } from "../xml/write.ts";
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
  if (typeof value === "string") return `${indent}<string>${xmlText(value)}</string>\n`;
  if (typeof value === "boolean") return `${indent}<${value}/>\n`;
  if (typeof value === "bigint") return `${indent}<integer>${integer(value)}</integer>\n`;
  if (typeof value === "number") return `${indent}${numberElement(value)}\n`;
  if (value instanceof Date) return `${indent}<date>${iso(value)}</date>\n`;
  if (Buffer.isBuffer(value)) return `${indent}<data>${value.toString("base64")}</data>\n`;
  if (Array.isArray(value)) return wrapped("array", indent, value.map((each) => element(each, inner)).join(""));
  const members = Object.entries(value).map(
    ([key, each]) => `${inner}<key>${xmlText(key)}</key>\n${element(each, inner)}`,
  );
  return wrapped("dict", indent, members.join(""));
}

const wrapped = (name: string, indent: string, content: string): string =>
  content === "" ? `${indent}<${name}/>\n` : `${indent}<${name}>\n${content}${indent}</${name}>\n`;

function numberElement(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a property list cannot contain this number");
  return Number.isSafeInteger(value) ? `<integer>${value}</integer>` : `<real>${value}</real>`;
}
