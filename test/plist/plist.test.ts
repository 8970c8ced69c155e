import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFlat } from "../../src/plist/flat.ts";
import { readPlist, readPlistDict } from "../../src/plist/read.ts";
import { BadPlist, type PlistValue, plistLimits, stringIn } from "../../src/plist/value.ts";
import { writePlist } from "../../src/plist/write.ts";
import { readXml } from "../../src/plist/xml.ts";
import { amount } from "../support/engines.ts";
import { haveProgram } from "../support/tools.ts";

const DOCTYPE =
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">';
const xml = (content: string, head = DOCTYPE) =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${head}\n<plist version="1.0">${content}</plist>\n`);
const reason = (bytes: Buffer, limits = {}): string => {
  try {
    readPlist(bytes, limits);
  } catch (error) {
    if (error instanceof BadPlist) return error.message.replace("the property list ", "");
    throw error;
  }
  return "read";
};

const sample: PlistValue = {
  Text: "a <b> & ü 😀\n",
  Small: 7,
  Negative: -7,
  Large: 2n ** 63n + 1n,
  Real: 1.5,
  Yes: true,
  No: false,
  At: new Date("2026-11-23T03:34:27Z"),
  Data: Buffer.from([0, 1, 2, 255]),
  Many: [1, [], {}, "x"],
};

describe("a dictionary of plain texts", () => {
  /** What is read, or why not; null: it is left to the XML parser. */
  const outcome = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (error) {
      if (error instanceof BadPlist) return error.message;
      throw error;
    }
  };

  it("is read without the XML parser", () => {
    const message = { UDID: "00008030-001", Status: "Idle", Empty: "" };
    expect({ ...readFlat(Buffer.from(writePlist(message))) }).toEqual(message);
    expect(readFlat(Buffer.from(writePlist({ ...message, Token: Buffer.from("a") })))).toBeNull();
    expect(readFlat(Buffer.from(writePlist({ Name: "Ana & Bo" })))).toBeNull();
  });

  it("is read as the XML parser reads it, whatever is changed in it", () => {
    const words = fc.constantFrom(
      "UDID",
      "Status",
      "Idle",
      "",
      "__proto__",
      "a&amp;b",
      "ü",
      "\u00a0",
      " x ",
      "]]>",
      "<b/>",
    );
    const pieces = fc.constantFrom(
      "<key>",
      "</string>",
      "\n",
      "\u00a0",
      "<!-- x -->",
      "<true/>",
      "&",
      "\u0000",
      "</dict>",
    );
    let flat = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(words, words), { maxLength: 5 }),
        fc.nat(),
        pieces,
        fc.boolean(),
        (some, at, piece, isChanged) => {
          const members = some.map(([key, value]) => `<key>${key}</key>\n<string>${value}</string>`).join("");
          const text = xml(`<dict>${members}</dict>`).toString();
          const from = at % text.length;
          const bytes = Buffer.from(isChanged ? text.slice(0, from) + piece + text.slice(from) : text);
          const read = outcome(() => readFlat(bytes));
          if (read === null) return;
          flat++;
          expect(read).toEqual(outcome(() => readXml(bytes, plistLimits)));
        },
      ),
      { numRuns: amount(2_000, 50_000) },
    );
    expect(flat).toBeGreaterThan(100);
  });
});

describe("property lists in XML", () => {
  it("reads every type", () => {
    const bytes = xml(`<dict>
      <key>s</key><string>a &lt; <!-- comment -->b<![CDATA[ & ]]></string>
      <key>i</key><integer> -12 </integer><key>hex</key><integer>0xFF</integer>
      <key>big</key><integer>9007199254740993</integer>
      <key>r</key><real>2.5e3</real><key>n</key><real>-inf</real>
      <key>t</key><true/><key>f</key><false/>
      <key>d</key><date>2026-02-28T01:02:03Z</date>
      <key>x</key><data>
        3q2+
        7w==
      </data>
      <key>a</key><array><string/><array/><dict/></array></dict>`);
    expect({ ...readPlistDict(bytes) }).toEqual({
      s: "a < b & ",
      i: -12,
      hex: 255,
      big: 9007199254740993n,
      r: 2500,
      n: Number.NEGATIVE_INFINITY,
      t: true,
      f: false,
      d: new Date("2026-02-28T01:02:03Z"),
      x: Buffer.from("deadbeef", "hex"),
      a: ["", [], {}],
    });
  });

  it("reads members only of the expected type, and none of the prototype", () => {
    const dict = readPlistDict(xml("<dict><key>UDID</key><integer>1</integer></dict>"));
    expect(stringIn(dict, "UDID")).toBeNull();
    expect(stringIn({}, "constructor")).toBeNull();
  });

  it.each([
    ["<string>a</string><string>b</string>", "has more than one value"],
    ["", "is empty"],
    ["<dict><key>a</key></dict>", "has a key without a value"],
    ["<dict><key>a</key><key>b</key><true/></dict>", "has a key without a value"],
    ["<dict><true/></dict>", "has a dictionary with a value without a key"],
    ["<array><key>a</key></array>", "has a key outside of a dictionary"],
    ["<dict><key>a</key><true/><key>a</key><true/></dict>", "has a dictionary with the same key twice"],
    ["<dict><key>__proto__</key><dict/></dict>", "has a key named __proto__"],
    ["<dict><key>a</key>x<true/></dict>", "has text outside of its values"],
    ["<string>a<true/></string>", "has an element inside a simple value"],
    ["<true>yes</true>", "has text inside true or false"],
    ["<constructor/>", "has an element that property lists do not have"],
    ["<plist/>", "has an element that property lists do not have"],
    ["<integer>1.5</integer>", "has an integer that is not one"],
    ["<integer>99999999999999999999</integer>", "has an integer of more than 64 bits"],
    ["<real>1,5</real>", "has a real number that is not one"],
    ["<date>2026-02-30T00:00:00Z</date>", "has a date that is not one"],
    ["<date>yesterday</date>", "has a date that is not one"],
    ["<data>not base64!</data>", "has data that is not base64"],
    ["<data>AAA</data>", "has data that is not base64"],
    ["<string>&lol;</string>", "is not well-formed XML"],
    ["<string>a", "is not well-formed XML"],
  ])("refuses %s", (content, expected) => {
    expect(reason(xml(content))).toBe(expected);
  });

  it("refuses a DOCTYPE that is not Apple's plain line", () => {
    const bomb = '<!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>';
    const withSubset = DOCTYPE.replace(">", ' [<!ENTITY a "ha">]>');
    const foreign = '<!DOCTYPE plist SYSTEM "file:///etc/passwd">';
    for (const head of [bomb, withSubset, foreign])
      expect(reason(xml("<string>&b;</string>", head))).toBe("has a DOCTYPE other than Apple's");
    expect(reason(xml("<string>a</string>", ""))).toBe("read");
    expect(reason(xml("<string>a</string>", DOCTYPE.replace("//Apple//", "//Apple Computer//")))).toBe("read");
  });

  it("reads the encoding that the list has", () => {
    const text = '<?xml version="1.0" encoding="UTF-16"?><plist><string>Größe</string></plist>';
    const inLatin1 = text.replace("UTF-16", "windows-1252");
    const utf16 = Buffer.from(`\uFEFF${text}`, "utf16le");
    for (const bytes of [Buffer.from(text), Buffer.from(inLatin1, "latin1"), utf16, Buffer.from(utf16).swap16()])
      expect(readPlist(bytes)).toBe("Größe");
    expect(reason(Buffer.from([0x3c, 0xff, 0x3e]))).toBe("cannot be read: it is not in UTF-8");
    expect(reason(Buffer.from(text.replace("UTF-16", "klingon")))).toBe(
      "cannot be read: its encoding klingon is not known",
    );
  });

  it("limits whatever takes time to parse", () => {
    for (const part of ["<?x y?>", "<!--x-->", "<![CDATA[]]>"])
      expect(reason(xml(`<string>${part.repeat(100)}</string>`), { count: 100 })).toBe("has too many values");
    expect(reason(xml(`<string>${"&#65;".repeat(100)}</string>`), { count: 100 })).toBe("read");
    expect(reason(xml(`<string>${"&#65;".repeat(101)}</string>`), { count: 100 })).toBe("has too many references");
  });

  it("has limits", () => {
    const nested = (levels: number) => xml("<array>".repeat(levels) + "</array>".repeat(levels));
    expect(reason(nested(64))).toBe("read");
    expect(reason(nested(65))).toBe("is nested too deeply");
    expect(reason(nested(100_000))).toBe("is nested too deeply");
    expect(reason(xml(`<string>${"x".repeat(3_000_000)}</string>`))).toBe("is larger than 2097152 bytes");
    expect(reason(xml(`<array>${"<true/>".repeat(50)}</array>`), { count: 50 })).toBe("has too many values");
    expect(reason(xml(`<string ${Array.from({ length: 60 }, (_, i) => `a${i}="1"`).join(" ")}/>`), { count: 50 })).toBe(
      "has too many values",
    );
  });

  it("refuses to write what XML cannot contain", () => {
    for (const value of ["\u0000", "\ud800", Number.NaN, 2n ** 64n]) expect(() => writePlist(value)).toThrow();
  });
});

// Values that both formats can contain.
const isWritable = (value: string): boolean => {
  try {
    return writePlist(value) !== "";
  } catch {
    return false;
  }
};
const text = fc.string({ unit: "grapheme" }).filter(isWritable);
const key = text.filter((value) => value !== "__proto__");
const anyPlist = fc.letrec<{ value: PlistValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    text,
    fc.boolean(),
    fc.integer(),
    fc.bigInt(2n ** 53n, 2n ** 63n - 1n),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Number.isInteger(value)),
    fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((at) => {
      at.setUTCMilliseconds(0);
      return at;
    }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

const hasPlistutil = haveProgram("plistutil", "libplist-utils");
const hasPython = haveProgram("python3", "python3-minimal");

describe("other readers and writers of property lists", () => {
  it.skipIf(!hasPlistutil)("agree with what is written, in both formats", () => {
    const dir = mkdtempSync(join(tmpdir(), "plist-"));
    fc.assert(
      fc.property(fc.array(anyPlist, { minLength: 20, maxLength: 20 }), (value) => {
        const written = writePlist(value);
        expect(readPlist(Buffer.from(written))).toEqual(value);
        writeFileSync(join(dir, "a.plist"), written);
        execFileSync("plistutil", ["-i", join(dir, "a.plist"), "-o", join(dir, "b.plist"), "-f", "bin"]);
        const binary = readFileSync(join(dir, "b.plist"));
        expect(binary.subarray(0, 8).toString()).toBe("bplist00");
        expect(readPlist(binary)).toEqual(value);
      }),
      { numRuns: amount(15, 200) },
    );
  });

  it.skipIf(!hasPython)("include Python's plistlib", () => {
    const convert = (input: Buffer | string, format: string) =>
      execFileSync(
        "python3",
        [
          "-c",
          `import plistlib,sys;sys.stdout.buffer.write(plistlib.dumps(plistlib.loads(sys.stdin.buffer.read()),fmt=plistlib.${format}))`,
        ],
        { input },
      );
    const written = writePlist(sample);
    for (const format of ["FMT_BINARY", "FMT_XML"]) expect(readPlist(convert(written, format))).toEqual(sample);
  });

  it.skipIf(!hasPython)("read a binary list with UIDs", () => {
    const bytes = spawnSync("python3", [
      "-c",
      "import plistlib,sys;sys.stdout.buffer.write(plistlib.dumps({'a':plistlib.UID(7)},fmt=plistlib.FMT_BINARY))",
    ]).stdout;
    expect({ ...readPlistDict(bytes) }).toEqual({ a: { CF$UID: 7 } });
  });
});

/** Writes a binary list of these objects; the first is the top. References are one byte. */
function binary(objects: readonly Buffer[]): Buffer {
  const head = Buffer.from("bplist00");
  let at = head.length;
  const offsets = objects.map((object) => {
    const offset = at;
    at += object.length;
    return offset;
  });
  const table = Buffer.alloc(4 * offsets.length);
  offsets.forEach((offset, i) => void table.writeUInt32BE(offset, 4 * i));
  const trailer = Buffer.alloc(32);
  trailer[6] = 4;
  trailer[7] = 1;
  trailer.writeBigUInt64BE(BigInt(objects.length), 8);
  trailer.writeBigUInt64BE(BigInt(at), 24);
  return Buffer.concat([head, ...objects, table, trailer]);
}

describe("binary property lists", () => {
  it("refuses a list that contains itself", () => {
    expect(reason(binary([Buffer.from([0xa1, 0])]))).toBe("is nested too deeply");
  });

  it("refuses a list that is small only because its parts are shared", () => {
    // Thirty arrays of ten references to the next one.
    const arrays = Array.from({ length: 30 }, (_, i) => Buffer.from([0xaa, ...Array(10).fill(i + 1)]));
    expect(reason(binary([...arrays, Buffer.from([0x09])]))).toBe("has too many values");
    const long = Buffer.concat([Buffer.from([0x5f, 0x12]), Buffer.alloc(4), Buffer.alloc(100_000, "x")]);
    long.writeUInt32BE(100_000, 2);
    expect(reason(binary([Buffer.concat([Buffer.from([0xaf, 0x10, 100]), Buffer.alloc(100, 1)]), long]))).toBe(
      "is too large with its repeated values",
    );
  });

  it("refuses references and lengths outside of the list", () => {
    expect(reason(binary([Buffer.from([0xa1, 9])]))).toBe("is damaged");
    expect(reason(binary([Buffer.from([0x5f, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]))).toBe(
      "is damaged",
    );
    expect(reason(binary([Buffer.from([0x00])]))).toBe("has a value without a form in XML");
    expect(reason(Buffer.from("bplist00"))).toBe("is too short");
  });

  it.skipIf(!hasPlistutil)("either reads damaged lists or says what is wrong, in both formats", () => {
    const text = Buffer.from(writePlist(sample));
    const other = spawnSync("plistutil", ["-i", "-", "-o", "-", "-f", "bin"], { input: text }).stdout;
    expect(reason(other)).toBe("read");
    fc.assert(
      fc.property(
        fc.constantFrom(text, other),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        (bytes, changes, cut) => {
          const damaged = Buffer.from(cut % 4 === 0 ? bytes.subarray(0, cut % bytes.length) : bytes);
          for (const [at, byte] of changes) if (damaged.length > 0) damaged[at % damaged.length] = byte;
          expect(reason(damaged)).toEqual(expect.any(String));
        },
      ),
      { numRuns: amount(5_000, 100_000) },
    );
  });
});
