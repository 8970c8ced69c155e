// Readers of installer files: what tools of others have made, and what is damaged or hostile.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { defaultScripts } from "../../src/packages/default-scripts.ts";
import { plainStreamName } from "../../src/packages/msi.ts";
import { PackageError, type PackageFile, type PackageInfo } from "../../src/packages/package.ts";
import { readPackage } from "../../src/packages/read.ts";
import {
  alteredPackages,
  packageFolder as folder,
  hostilePackages,
  type NamedFile,
  soundPackages,
} from "../support/damaged-packages.ts";
import { xar } from "../support/xar.ts";

const fileOf = (name: string, bytes: Buffer): PackageFile => ({
  name,
  size: bytes.length,
  async read(start, end) {
    if (start < 0 || end > bytes.length || start >= end) throw new Error(`read from ${start} to ${end}`);
    return bytes.subarray(start, end);
  },
});
const read = async (name: string): Promise<PackageInfo> =>
  readPackage(fileOf(name, await readFile(join(folder, name))));
const refusal = (name: string, bytes: Buffer) =>
  readPackage(fileOf(name, bytes)).then(
    (info) => `was read as ${info.name}`,
    (error: unknown) => {
      if (!(error instanceof PackageError)) throw error;
      return error.message;
    },
  );

/** A package for Macs with a description in this encoding. */
function packageWith(encoding: string, encode: (text: string) => Buffer): Buffer {
  const description = encode(
    `<?xml version="1.0" encoding="${encoding}"?><installer-gui-script><title>Größe</title>` +
      '<product id="com.example.size" version="1.2"/><pkg-ref id="com.example.size" version="1.2"/></installer-gui-script>',
  );
  const data =
    `<data><length>${description.length}</length><size>${description.length}</size><offset>0</offset>` +
    '<encoding style="application/octet-stream"/></data>';
  const archive = xar({ toc: `<file id="1"><name>Distribution</name><type>file</type>${data}</file>` });
  return Buffer.concat([archive.subarray(0, archive.length - 1024), description]);
}

describe("packages for Macs whose description is not in UTF-8", () => {
  const swapped = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16();
  it.each<[string, (text: string) => Buffer]>([
    ["windows-1252", (text) => Buffer.from(text, "latin1")],
    ["ISO-8859-1", (text) => Buffer.from(text, "latin1")],
    ["UTF-16", (text) => Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["UTF-16", swapped],
    ["UTF-8", (text) => Buffer.from(text)],
  ])("are read: %s", async (encoding, encode) => {
    const info = await readPackage(fileOf("size.pkg", packageWith(encoding, encode)));
    expect(info).toMatchObject({ name: "Größe", version: "1.2", packageIds: ["com.example.size"] });
  });

  it("are refused if nobody can read them", async () => {
    expect(
      await refusal(
        "size.pkg",
        packageWith("klingon", (text) => Buffer.from(text)),
      ),
    ).toContain("damaged");
    expect(
      await refusal(
        "size.pkg",
        packageWith("UTF-8", (text) => Buffer.from(text, "latin1")),
      ),
    ).toContain("damaged");
  });
});

describe("packages that other tools have made", () => {
  it.each(["hello-gzip.deb", "hello-xz.deb", "hello-zstd.deb"])("%s", async (name) => {
    expect(await read(name)).toEqual({
      kind: "deb",
      platform: "linux",
      name: "svc-hello",
      version: "1:2.0-3",
      source: "deb_packages",
      bundleIdentifier: "",
      packageIds: ["svc-hello"],
      upgradeCode: "",
      installsApp: false,
    });
  });

  it.each([
    ["hello.rpm", { platform: "linux", name: "svc-hello", version: "2.0", source: "rpm_packages" }],
    [
      "hello.msi",
      {
        platform: "windows",
        name: "Svc Hello",
        version: "2.0.3",
        source: "programs",
        packageIds: ["{11111111-2222-3333-4444-555555555555}"],
        upgradeCode: "{AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE}",
      },
    ],
    ["hello.exe", { platform: "windows", name: "Svc Hello", version: "2.0.3", source: "programs" }],
    [
      "hello.pkg",
      {
        platform: "darwin",
        name: "Svc Hello",
        version: "2.0.3",
        source: "apps",
        bundleIdentifier: "com.example.hello",
        packageIds: ["com.example.hello"],
        installsApp: true,
      },
    ],
    ["component.pkg", { name: "component", version: "2.0.3", bundleIdentifier: "com.example.hello" }],
    [
      "hello.ipa",
      {
        platform: "ios",
        name: "Svc Hello",
        version: "2.0.3",
        source: "ios_apps",
        bundleIdentifier: "com.example.hello",
      },
    ],
    ["hello.tar.gz", { platform: "linux", name: "hello", version: "" }],
  ])("%s", async (name, expected) => {
    expect(await read(name)).toMatchObject(expected);
  });

  it("have default scripts where it is known how they are installed", async () => {
    const scripts = new Map<string, ReturnType<typeof defaultScripts>>();
    for (const name of await readdir(folder))
      if (!name.endsWith(".md")) {
        const info = await read(name);
        scripts.set(info.kind, defaultScripts(info));
      }
    for (const kind of ["deb", "rpm", "pkg", "msi"])
      expect(scripts.get(kind)!.install, kind).toContain("INSTALLER_PATH");
    expect(scripts.get("deb")!.uninstall).toContain("'svc-hello'");
    expect(scripts.get("msi")!.uninstall).toContain("'{11111111-2222-3333-4444-555555555555}'");
    for (const kind of ["exe", "tar.gz", "ipa"]) expect(scripts.get(kind)).toEqual({ install: "", uninstall: "" });
  });

  it("cannot put commands into default scripts", () => {
    const info: PackageInfo = {
      kind: "rpm",
      platform: "linux",
      name: "a'; reboot; '",
      version: "1",
      source: "rpm_packages",
      bundleIdentifier: "",
      packageIds: ["a'; reboot; '"],
      upgradeCode: "'; reboot; '",
      installsApp: false,
    };
    expect(defaultScripts(info).uninstall).toContain(`--erase 'a'\\''; reboot; '\\'''`);
    expect(defaultScripts({ ...info, kind: "pkg" }).uninstall).toContain(`remove 'a'\\''; reboot; '\\'''`);
    expect(defaultScripts({ ...info, kind: "msi" }).uninstall).toContain("'''; reboot; '''");
  });
});

describe("files that are no packages", () => {
  it.each([
    ["notes.txt", "anything", "has to be named"],
    ["a.deb", "", "empty"],
    ["a.deb", "!<arch>", "not a Debian package"],
    ["a.deb", "!<arch>\n", "without a description"],
    ["a.rpm", "x".repeat(200), "not an RPM package"],
    ["a.msi", "x".repeat(2000), "not a Windows Installer package"],
    ["a.exe", `MZ${"\0".repeat(100)}`, "not a program"],
    ["a.pkg", "x".repeat(200), "not a package"],
    ["a.ipa", "x".repeat(200), "damaged"],
    ["a.tar.gz", "x".repeat(200), "not a compressed"],
  ])("%s with %j: %s", async (name, content, reason) => {
    expect(await refusal(name, Buffer.from(content, "latin1"))).toContain(reason);
  });

  it("pass on that the file could not be read", async () => {
    const broken: PackageFile = {
      name: "a.ipa",
      size: 1000,
      read: () => Promise.reject(new Error("the bucket is away")),
    };
    await expect(readPackage(broken)).rejects.toThrow("the bucket is away");
  });
});

describe("hostile packages", () => {
  it.each(hostilePackages().map((file) => [file.name, file] as const))("%s", async (name, { bytes, reason }) => {
    expect(await refusal(name, bytes)).toContain(reason);
  });

  it("end in a loop neither of sectors nor of folders", async () => {
    const msi = Buffer.from(await readFile(join(folder, "hello.msi")));
    // Every sector of the table follows itself.
    const table = 512 + msi.readUInt32LE(76) * 512;
    for (let i = 0; i < 128; i++) msi.writeUInt32LE(i, table + i * 4);
    expect(await refusal("a.msi", msi)).toBeTruthy();
  });

  it("are refused or read, however they are mutated, with bounded memory", { timeout: 120_000 }, async () => {
    const altered = alteredPackages(await soundPackages(), 20_261_123);
    const before = process.memoryUsage().rss;
    const outcomes = { read: 0, refused: 0 };
    for (let i = 0; i < 500; i++) {
      const { name, bytes } = altered.next().value as NamedFile;
      const outcome = await refusal(name, bytes);
      outcomes[outcome.startsWith("was read") ? "read" : "refused"]++;
    }
    expect(outcomes.read).toBeGreaterThan(50);
    expect(outcomes.refused).toBeGreaterThan(50);
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
  });
});

describe("files that were cut off", () => {
  const cuts = [1, 20, 0.25, 0.5, 0.9];
  const left = (bytes: Buffer, cut: number) => bytes.subarray(0, cut < 1 ? bytes.length * (1 - cut) : -cut);

  it.each(["hello-gzip.deb", "hello-xz.deb", "hello-zstd.deb", "hello.rpm", "hello.msi", "hello.ipa", "hello.tar.gz"])(
    "%s",
    async (name) => {
      const bytes = await readFile(join(folder, name));
      for (const cut of cuts) expect(await refusal(name, left(bytes, cut)), String(cut)).toMatch(/damaged|incomplete/);
    },
  );

  it("hello.exe: in its sections, or before its signature", async () => {
    const bytes = await readFile(join(folder, "hello.exe"));
    const header = bytes.readUInt32LE(0x3c) + 24;
    const [sections, optional] = [bytes.readUInt16LE(header - 18), bytes.readUInt16LE(header - 4)];
    const last = header + optional + (sections - 1) * 40;
    const end = bytes.readUInt32LE(last + 16) + bytes.readUInt32LE(last + 20);
    expect(end).toBeLessThan(bytes.length);
    expect(await refusal("hello.exe", bytes.subarray(0, end - 1))).toContain("damaged");
    const signed = Buffer.concat([bytes, Buffer.alloc(64)]);
    signed.writeUInt32LE(bytes.length, header + 96 + 32);
    signed.writeUInt32LE(64, header + 96 + 36);
    expect(await refusal("hello.exe", signed)).toContain("was read");
    expect(await refusal("hello.exe", signed.subarray(0, -20))).toContain("damaged");
  });

  it.each(["hello.pkg", "component.pkg"])("%s: before the end of the last file in its heap", async (name) => {
    const bytes = await readFile(join(folder, name));
    // bsdtar appends a second checksum, which the table of contents does not mention.
    expect(await refusal("a.pkg", bytes.subarray(0, -20))).toContain("was read");
    expect(await refusal("a.pkg", bytes.subarray(0, -21))).toContain("damaged or incomplete");
  });

  it("a tar archive whose last gzip member is empty is complete", async () => {
    const bytes = await readFile(join(folder, "hello.tar.gz"));
    expect(await refusal("a.tar.gz", Buffer.concat([bytes, gzipSync("")]))).toContain("was read");
  });

  it("a Debian package whose data is missing as a whole", async () => {
    const bytes = await readFile(join(folder, "hello-gzip.deb"));
    const data = bytes.indexOf("data.tar");
    expect(await refusal("a.deb", bytes.subarray(0, data))).toContain("damaged or incomplete");
    expect(await refusal("a.deb", bytes.subarray(0, data + 30))).toContain("damaged or incomplete");
    expect(await refusal("a.deb", Buffer.concat([bytes, Buffer.from("trailing")]))).toContain("was read");
  });

  it("but an installer database may end before its last sector is full", async () => {
    const bytes = await readFile(join(folder, "hello.msi"));
    // A stream of 4100 bytes in nine sectors at the end of the file, of which the last one has four bytes.
    const sectors = bytes.length / 512 - 1;
    const msi = Buffer.concat([bytes, Buffer.alloc(8 * 512 + 4)]);
    const table = (bytes.readUInt32LE(76) + 1) * 512;
    for (let i = 0; i < 9; i++) msi.writeUInt32LE(i === 8 ? 0xfffffffe : sectors + i + 1, table + (sectors + i) * 4);
    const folderAt = (bytes.readUInt32LE(48) + 1) * 512;
    // One that is not read.
    const entry = folderAt + 14 * 128;
    expect(msi[entry + 66]).toBe(2);
    msi.writeUInt32LE(sectors, entry + 116);
    msi.writeUInt32LE(4100, entry + 120);
    expect(await refusal("a.msi", msi)).toContain("was read");
    expect(await refusal("a.msi", msi.subarray(0, -1))).toContain("damaged");
    expect(await refusal("a.msi", msi.subarray(0, -100))).toContain("damaged");
  });

  it("states sizes of packages of version 6 in the header, and of large ones with 64 bits", async () => {
    const bytes = Buffer.from(await readFile(join(folder, "hello.rpm")));
    const signature = 96 + 16;
    const entries = bytes.readUInt32BE(96 + 8);
    for (let i = 0; i < entries; i++) {
      const at = signature + i * 16;
      if (bytes.readUInt32BE(at) !== 1000) continue;
      const value = signature + entries * 16 + bytes.readUInt32BE(at + 8);
      bytes.writeUInt32BE(270, at);
      bytes.writeUInt32BE(5, at + 4);
      bytes.writeBigUInt64BE(5_000_000_000n, value);
    }
    expect(await refusal("a.rpm", bytes)).toContain("damaged or incomplete");
  });
});

it("decodes the names of streams in an installer database", () => {
  expect(plainStreamName("\u4840\u3f7f\u4164\u422f\u4836")).toMatch(/^!_/);
  expect(plainStreamName("\u0005SummaryInformation")).toBe("\u0005SummaryInformation");
});
