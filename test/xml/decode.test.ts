import { describe, expect, it } from "vitest";
import { decodeXml, utf8 } from "../../src/xml/decode.ts";
import { parseXml, XmlProblem } from "../../src/xml/xml.ts";

const document = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><a>Größe</a>`;
const utf16 = Buffer.from(`\uFEFF${document("UTF-16")}`, "utf16le");
const reasonOf = (work: () => unknown): string => {
  try {
    work();
    return "";
  } catch (error) {
    if (error instanceof XmlProblem) return error.message;
    throw error;
  }
};

describe("an XML document", () => {
  it.each<[string, Buffer]>([
    ["UTF-8", Buffer.from(document("UTF-8"))],
    ["UTF-8 with a byte order mark", Buffer.from(`\uFEFF${document("utf-8")}`)],
    ["UTF-8 without a declaration", Buffer.from("<a>Größe</a>")],
    ["UTF-16, little end first", utf16],
    ["UTF-16, big end first", Buffer.from(utf16).swap16()],
    ["UTF-16 without a byte order mark", utf16.subarray(2)],
    ["big-end UTF-16 without a byte order mark", Buffer.from(utf16).swap16().subarray(2)],
    ["Windows-1252", Buffer.from(document("windows-1252"), "latin1")],
    ["ISO 8859-1", Buffer.from(document("ISO-8859-1"), "latin1")],
    ["UTF-8 that somebody has converted from UTF-16", Buffer.from(document("UTF-16"))],
  ])("is read as %s", (_, bytes) => {
    expect(parseXml(decodeXml(bytes), { most: 10, lenient: true }).text).toBe("Größe");
  });

  it("is refused if it is not in its encoding, or nobody knows that", () => {
    expect(reasonOf(() => decodeXml(Buffer.from(document("UTF-8"), "latin1")))).toBe("it is not in UTF-8");
    expect(reasonOf(() => decodeXml(Buffer.from(document("klingon"))))).toBe("its encoding klingon is not known");
    expect(reasonOf(() => decodeXml(utf16.subarray(0, 31)))).toBe("it is not in UTF-16LE");
    expect(reasonOf(() => decodeXml(Buffer.from([0xff, 0xfe, 0, 0, 0x3c])))).toBe("its encoding utf-32 is not known");
  });

  it("may be cut inside of a character where only its beginning is read", () => {
    expect(decodeXml(Buffer.from("<a>ö").subarray(0, 4), { isCut: true })).toBe("<a>");
  });

  it("of a protocol with signatures is in UTF-8 or refused, so that nobody can read it in two ways", () => {
    expect(utf8(Buffer.from(document("UTF-8")))).toContain("Größe");
    for (const bytes of [utf16, Buffer.from(document("windows-1252")), Buffer.from(document("UTF-7"))])
      expect(reasonOf(() => utf8(bytes))).toBe("it is not in UTF-8");
  });
});
