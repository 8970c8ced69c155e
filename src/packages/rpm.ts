// RPM packages: a lead, a signature and a header with tagged values (rpm's format, version 3 and 4).
import { cleanText, damaged, PackageError, type PackageFile, type PackageInfo, part, requireUpTo } from "./package.ts";

const LEAD = { size: 96, magic: 0xedabeedb } as const;
const HEADER_MAGIC = 0x8eade801;
const INTRO = 16;
const ENTRY = 16;
/** Bytes of the header: it names every file of the package, but those names are not read. */
const INDEX_MAX = 10_000;
const STORE_MAX = 256 * 1024 * 1024;
const TEXT_MAX = 4096;

/** `payloadSize` is that of version 6, whose signature has no size. */
const TAGS = { name: 1000, version: 1001, release: 1002, payloadSize: 5112 } as const;
/** Tags of sizes of header and payload together. */
const SIGNATURE_TAGS = { size: 1000, longSize: 270 } as const;
const [INT32, INT64, STRING] = [4, 5, 6];

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
  const index = await indexOf(file, header);
  const tagText = async (tag: number): Promise<string> => {
    const offset = offsetOf(index, tag, STRING);
    return offset === null ? "" : textAt(file, header, offset);
  };
  await requirePayload(file, signature, header, index);
  const name = cleanText(await tagText(TAGS.name));
  if (name === "") throw new PackageError("is an RPM package without a name");
  return {
    kind: "rpm",
    platform: "linux",
    name,
    version: cleanText(await tagText(TAGS.version)),
    source: "rpm_packages",
    bundleIdentifier: "",
    packageIds: [name],
    upgradeCode: "",
    installsApp: false,
  };
}

async function headerAt(file: PackageFile, at: number): Promise<Header> {
  const intro = await part(file, at, INTRO);
  if (intro.readUInt32BE(0) !== HEADER_MAGIC) throw damaged();
  const [entries, storeSize] = [intro.readUInt32BE(8), intro.readUInt32BE(12)];
  if (entries > INDEX_MAX || storeSize > STORE_MAX) throw damaged();
  return { entries, storeSize, at };
}

const indexOf = (file: PackageFile, { at, entries }: Header) => part(file, at + INTRO, entries * ENTRY);

/** Where in the header's store the value of a tag is; null if there is none of this type. */
function offsetOf(index: Buffer, tag: number, type: number): number | null {
  for (let at = 0; at < index.length; at += ENTRY)
    if (index.readUInt32BE(at) === tag && index.readUInt32BE(at + 4) === type) return index.readUInt32BE(at + 8);
  return null;
}

async function numberOf(file: PackageFile, header: Header, index: Buffer, tag: number, type: number) {
  const offset = offsetOf(index, tag, type);
  if (offset === null) return null;
  const length = type === INT64 ? 8 : 4;
  if (offset + length > header.storeSize) throw damaged();
  const bytes = await part(file, header.at + INTRO + header.entries * ENTRY + offset, length);
  return type === INT64 ? Number(bytes.readBigUInt64BE()) : bytes.readUInt32BE();
}

/** The package states its size in its signature, or in its header. */
async function requirePayload(file: PackageFile, signature: Header, header: Header, index: Buffer): Promise<void> {
  const signed = await indexOf(file, signature);
  const size =
    (await numberOf(file, signature, signed, SIGNATURE_TAGS.longSize, INT64)) ??
    (await numberOf(file, signature, signed, SIGNATURE_TAGS.size, INT32));
  const payload = await numberOf(file, header, index, TAGS.payloadSize, INT64);
  const start = header.at + INTRO + header.entries * ENTRY + header.storeSize;
  requireUpTo(file, start);
  if (size !== null) requireUpTo(file, header.at + size);
  if (payload !== null) requireUpTo(file, start + payload);
}

async function textAt(file: PackageFile, { at, entries, storeSize }: Header, offset: number): Promise<string> {
  if (offset >= storeSize) throw damaged();
  const bytes = await part(file, at + INTRO + entries * ENTRY + offset, Math.min(TEXT_MAX, storeSize - offset));
  const end = bytes.indexOf(0);
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString("utf8");
}
