// Apps for iPhones and iPads: a zip archive with Payload/NAME.app/Info.plist.
import { Readable } from "node:stream";
import { readPlistDict } from "../plist/read.ts";
import { stringIn } from "../plist/value.ts";
import { cleanText, guarded, PackageError, type PackageFile, type PackageInfo, part, plainName } from "./package.ts";

const ENTRIES_MAX = 200_000;
const INFO_MAX = 4 * 1024 * 1024;

export async function readIpa(file: PackageFile): Promise<PackageInfo> {
  const info = readPlist(await guarded(() => infoOf(file)));
  const textOf = (...keys: string[]) => cleanText(keys.map((key) => stringIn(info, key) ?? "").find(Boolean) ?? "");
  const bundleIdentifier = textOf("CFBundleIdentifier");
  if (bundleIdentifier === "") throw new PackageError("is an app without a bundle identifier");
  return {
    kind: "ipa",
    platform: "ios",
    name: textOf("CFBundleDisplayName", "CFBundleName") || plainName(file.name, "ipa"),
    version: textOf("CFBundleShortVersionString", "CFBundleVersion"),
    source: "ios_apps",
    bundleIdentifier,
    packageIds: [bundleIdentifier],
    upgradeCode: "",
  };
}

function readPlist(bytes: Buffer) {
  try {
    return readPlistDict(bytes, { bytes: INFO_MAX });
  } catch {
    throw new PackageError("is an app whose Info.plist cannot be read");
  }
}

async function infoOf(file: PackageFile): Promise<Buffer> {
  const { fromRandomAccessReaderPromise, RandomAccessReader } = await import("yauzl");
  class Reader extends RandomAccessReader {
    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(rangesOf(file, start, end));
    }
  }
  const archive = await fromRandomAccessReaderPromise(new Reader(), file.size, { autoClose: false });
  let seen = 0;
  for await (const entry of archive.eachEntry()) {
    if (++seen > ENTRIES_MAX) break;
    if (!/^Payload\/[^/]+\.app\/Info\.plist$/.test(entry.fileName)) continue;
    if (entry.uncompressedSize > INFO_MAX) throw new PackageError("is an app whose Info.plist is too large");
    const chunks: Buffer[] = [];
    // It ends with an error as soon as more comes out than the archive says.
    for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  throw new PackageError("is not an app for iPhones and iPads: it has no Payload/NAME.app/Info.plist");
}

const CHUNK = 64 * 1024;

async function* rangesOf(file: PackageFile, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; at += CHUNK) yield part(file, at, Math.min(CHUNK, end - at));
}
