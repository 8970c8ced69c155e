// Whether a node has the value that a profile has set. Windows returns some values in other words.
import { parseXml, type XmlElement, XmlProblem } from "../../../../xml/xml.ts";

const MAX_ELEMENTS = 20_000;

export function isSameValue(format: string, desired: string, reported: string): boolean {
  const [expected, other] = [plain(desired), plain(reported)];
  if (expected === other) return true;
  switch (format.toLowerCase()) {
    case "bool":
      return expected.toLowerCase() === other.toLowerCase();
    case "int":
      return /^[+-]?\d+$/.test(expected) && /^[+-]?\d+$/.test(other) && BigInt(expected) === BigInt(other);
    case "b64":
    case "bin":
      return expected.replace(/\s/g, "") === other.replace(/\s/g, "");
    default:
      return isSameXml(expected, other);
  }
}

const plain = (text: string): string => text.replace(/\r\n?/g, "\n").trim();

function isSameXml(desired: string, other: string): boolean {
  const [desiredXml, reportedXml] = [contentOf(desired), contentOf(other)];
  if (desiredXml === null || reportedXml === null) return false;
  const [network, reported] = [networkIn(desiredXml), networkIn(reportedXml)];
  if (network !== null || reported !== null) return network === reported;
  return canonical(desiredXml) === canonical(reportedXml);
}

/** The text as the content of an element; null: it is no XML. */
function contentOf(text: string): XmlElement | null {
  if (!text.startsWith("<")) return null;
  try {
    const content = text.replace(/^<\?xml[^>]*\?>/, "");
    return parseXml(`<content>${content}</content>`, { most: MAX_ELEMENTS, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem) return null;
    throw error;
  }
}

/**
 * Windows encrypts the key of a Wi-Fi profile and adds elements to it, but keeps the name and the networks. Null: it is
 * no such profile.
 */
function networkIn({ children: [profile, another] }: XmlElement): string | null {
  if (!profile || another || profile.name !== "WLANProfile") return null;
  const textOf = (element: XmlElement | undefined, name: string) =>
    element?.children.find((child) => child.name === name)?.text.trim() ?? "";
  const networks = profile.children
    .filter(({ name }) => name === "SSIDConfig")
    .flatMap(({ children }) => children.filter(({ name }) => name === "SSID"))
    .map((ssid) => textOf(ssid, "hex").toLowerCase() || Buffer.from(textOf(ssid, "name")).toString("hex"));
  return JSON.stringify([textOf(profile, "name"), networks.sort()]);
}

const ADMX = new Set(["enabled", "disabled", "data"]);

/** Without white space between elements. The order of the elements of an ADMX policy means nothing. */
function canonical(content: XmlElement): string {
  const parts = content.children.map(textOf);
  return JSON.stringify(content.children.every(({ name }) => ADMX.has(name)) ? parts.sort() : parts);
}

const textOf = (element: XmlElement): string =>
  JSON.stringify([
    element.uri,
    element.name,
    [...element.attributes].sort(([a], [b]) => (a < b ? -1 : 1)),
    element.text.trim(),
    element.children.map(textOf),
  ]);
