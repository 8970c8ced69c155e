// RPM packages: a lead, a signature and a header with tagged values (rpm's format, version 3 and 4).
import { cleanText, damaged, PackageError, type PackageFile, type PackageInfo, part } from "./package.ts";

const LEAD = { size: 96, magic: 0xedabeedb } as const;
const HEADER_MAGIC = 0x8eade801;
const INTRO = 16;
const ENTRY = 16;
/** Of the header: it names every file of the package, but those names are not read. */
const INDEX_MAX = 10_000;
const STORE_MAX = 256 * 1024 * 1024;
const TEXT_MAX = 4096;

const TAGS = { name: 1000, version: 1001, release: 1002 } as const;
const STRING = 6;

interface Header {
  readonly entries: number;
  readonly storeSize: number;
  readonly at: number;
}

export async function readRpm(file: PackageFile): Promise<PackageInfo> {
  const lead = file.size < LEAD.size ? null : await part(file, 0, LEAD.size);
  if (lead?.readUInt32BE(0) !== LEAD.magic) throw new PackageError("is not an RPM package");
  const signature = await headerAt(file, LEAD.size);
  const length = INTRO + signature.entries * ENTRY + signature.storeSize;
  const header = await headerAt(file, LEAD.size + length + ((8 - (length % 8)) % 8));
  const index = await part(file, header.at + INTRO, header.entries * ENTRY);
  const textOf = async (tag: number): Promise<string> => {
    for (let i = 0; i < header.entries; i++) {
      const entry = index.subarray(i * ENTRY, (i + 1) * ENTRY);
      if (entry.readUInt32BE(0) === tag && entry.readUInt32BE(4) === STRING)
        return textAt(file, header, entry.readUInt32BE(8));
    }
    return "";
  };
  const name = cleanText(await textOf(TAGS.name));
  if (name === "") throw new PackageError("is an RPM package without a name");
  return {
    kind: "rpm",
    platform: "linux",
    name,
    version: cleanText(await textOf(TAGS.version)),
    source: "rpm_packages",
    bundleIdentifier: "",
    packageIds: [name],
    upgradeCode: "",
  };
}

async function headerAt(file: PackageFile, at: number): Promise<Header> {
  const intro = await part(file, at, INTRO);
  if (intro.readUInt32BE(0) !== HEADER_MAGIC) throw damaged();
  const [entries, storeSize] = [intro.readUInt32BE(8), intro.readUInt32BE(12)];
  if (entries > INDEX_MAX || storeSize > STORE_MAX) throw damaged();
  return { entries, storeSize, at };
}

async function textAt(file: PackageFile, { at, entries, storeSize }: Header, offset: number): Promise<string> {
  if (offset >= storeSize) throw damaged();
  const bytes = await part(file, at + INTRO + entries * ENTRY + offset, Math.min(TEXT_MAX, storeSize - offset));
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString("utf8");
}
