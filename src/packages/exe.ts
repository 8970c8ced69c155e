// Programs for Windows: the version resource of a PE file (Microsoft's PE format; VS_VERSIONINFO).
import {
  cleanText,
  damaged,
  PackageError,
  type PackageFile,
  type PackageInfo,
  part,
  plainName,
  requireUpTo,
} from "./package.ts";

const RESOURCES = 2;
const CERTIFICATES = 4;
const RT_VERSION = 16;
const SECTIONS_MAX = 96;
const ENTRIES_MAX = 4096;
const VERSION_MAX = 256 * 1024;

interface Section {
  readonly address: number;
  readonly size: number;
  readonly at: number;
}

export async function readExe(file: PackageFile): Promise<PackageInfo> {
  const start = file.size < 64 ? null : await part(file, 0, 64);
  if (start?.toString("latin1", 0, 2) !== "MZ") throw new PackageError("is not a program for Windows");
  const at = start.readUInt32LE(0x3c);
  const coff = await part(file, at, 24);
  if (coff.toString("latin1", 0, 4) !== "PE\0\0") throw new PackageError("is not a program for Windows");
  const texts = await versionTexts(file, at + 24, coff.readUInt16LE(6), coff.readUInt16LE(20));
  const firstText = (...keys: string[]) =>
    cleanText(keys.map((key) => texts.get(key)?.trim() ?? "").find(Boolean) ?? "");
  return {
    kind: "exe",
    platform: "windows",
    name: firstText("ProductName", "FileDescription") || plainName(file.name, "exe"),
    version: firstText("ProductVersion", "FileVersion"),
    source: "programs",
    bundleIdentifier: "",
    packageIds: [],
    upgradeCode: "",
    installsApp: false,
  };
}

/** Texts in the first language; none if the program has no version resource. */
async function versionTexts(
  file: PackageFile,
  at: number,
  sections: number,
  optionalSize: number,
): Promise<ReadonlyMap<string, string>> {
  if (sections > SECTIONS_MAX) throw damaged();
  const optional = await part(file, at, optionalSize);
  if (optional.length < 2) throw damaged();
  const directories = optional.readUInt16LE(0) === 0x20b ? 112 : 96;
  const table = await part(file, at + optionalSize, sections * 40);
  const all = Array.from({ length: sections }, (_, i): Section => {
    const row = table.subarray(i * 40, (i + 1) * 40);
    return { address: row.readUInt32LE(12), size: row.readUInt32LE(16), at: row.readUInt32LE(20) };
  });
  for (const { size, at } of all) if (size > 0) requireUpTo(file, at + size);
  // Installers append their data to the program, and signatures to the data: those are found by their place in the file.
  const signature = directories + CERTIFICATES * 8;
  if (optional.length >= signature + 8)
    requireUpTo(file, optional.readUInt32LE(signature) + optional.readUInt32LE(signature + 4));
  if (optional.length < directories + (RESOURCES + 1) * 8) return new Map();
  const address = optional.readUInt32LE(directories + RESOURCES * 8);
  if (address === 0) return new Map();
  const section = all.find((candidate) => address >= candidate.address && address < candidate.address + candidate.size);
  if (!section) throw damaged();
  const root = section.at + (address - section.address);
  // Three levels: type, name, language. The first of each is taken.
  const type = await entryIn(file, root, 0, RT_VERSION);
  if (type === null) return new Map();
  const name = await entryIn(file, root, inner(type), null);
  const language = name === null ? null : await entryIn(file, root, inner(name), null);
  if (language === null || language >= 0x8000_0000) throw damaged();
  const data = await part(file, root + language, 8);
  const size = data.readUInt32LE(4);
  if (size > VERSION_MAX) throw damaged();
  return textsIn(await part(file, section.at + (data.readUInt32LE(0) - section.address), size));
}

/** The offset of the folder to which an entry points. */
function inner(offset: number): number {
  if (offset < 0x8000_0000) throw damaged();
  return offset - 0x8000_0000;
}

/** Where the entry with this id points to, or the first one. */
async function entryIn(file: PackageFile, root: number, folder: number, id: number | null): Promise<number | null> {
  const header = await part(file, root + folder, 16);
  const count = header.readUInt16LE(12) + header.readUInt16LE(14);
  if (count > ENTRIES_MAX) throw damaged();
  const entries = await part(file, root + folder + 16, count * 8);
  for (let i = 0; i < count; i++)
    if (id === null || entries.readUInt32LE(i * 8) === id) return entries.readUInt32LE(i * 8 + 4);
  return null;
}

/** The pairs of all string tables; the first value of a key counts. */
function textsIn(bytes: Buffer): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const read = (from: number, to: number, depth: number): void => {
    for (let at = from; at + 6 <= to; ) {
      const length = bytes.readUInt16LE(at);
      if (length < 6 || at + length > to) return;
      const end = at + length;
      const valueLength = bytes.readUInt16LE(at + 2);
      const isText = bytes.readUInt16LE(at + 4) === 1;
      let keyEnd = at + 6;
      while (keyEnd + 2 <= end && bytes.readUInt16LE(keyEnd) !== 0) keyEnd += 2;
      const key = bytes.toString("utf16le", at + 6, keyEnd);
      const value = aligned(keyEnd + 2);
      if (depth === 3) {
        const valueEnd = Math.min(end, value + valueLength * 2);
        if (isText && value <= valueEnd && !texts.has(key))
          texts.set(key, bytes.toString("utf16le", value, valueEnd).replace(/\0.*$/s, ""));
      } else if (depth > 0 ? key !== "VarFileInfo" : true) {
        // VS_VERSIONINFO itself has a binary value before its children.
        read(aligned(value + (depth === 0 ? valueLength : 0)), end, depth + 1);
      }
      at = aligned(end);
    }
  };
  read(0, bytes.length, 0);
  return texts;
}

const aligned = (at: number): number => (at + 3) & ~3;
