// Apps for iPhones and iPads: a zip archive with Payload/NAME.app/Info.plist.
import { Readable } from "node:stream";
import type { RandomAccessReader as RandomReader } from "yauzl";
import { readPlistDict } from "../plist/read.ts";
import { stringIn } from "../plist/value.ts";
import { cleanText, guarded, PackageError, type PackageFile, type PackageInfo, part, plainName } from "./package.ts";

const ENTRIES_MAX = 200_000;
const INFO_MAX = 4 * 1024 * 1024;

export async function readIpa(file: PackageFile): Promise<PackageInfo> {
  const info = readPlist(await guarded(() => infoOf(file)));
  const firstText = (...keys: string[]) => cleanText(keys.map((key) => stringIn(info, key) ?? "").find(Boolean) ?? "");
  const bundleIdentifier = firstText("CFBundleIdentifier");
  if (bundleIdentifier === "") throw new PackageError("is an app without a bundle identifier");
  return {
    kind: "ipa",
    platform: "ios",
    name: firstText("CFBundleDisplayName", "CFBundleName") || plainName(file.name, "ipa"),
    version: firstText("CFBundleShortVersionString", "CFBundleVersion"),
    source: "ios_apps",
    bundleIdentifier,
    packageIds: [bundleIdentifier],
    upgradeCode: "",
    installsApp: true,
  };
}

function readPlist(bytes: Buffer) {
  try {
    return readPlistDict(bytes, { bytes: INFO_MAX });
  } catch {
    throw new PackageError("is an app whose Info.plist cannot be read");
  }
}

async function infoOf(packageFile: PackageFile): Promise<Buffer> {
  const file = aheadIn(packageFile);
  const { fromRandomAccessReaderPromise, RandomAccessReader } = await import("yauzl");
  class Reader extends RandomAccessReader {
    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(rangesOf(file, start, end));
    }

    // Without a stream for each of the two reads that an entry of the directory takes.
    override read(...[buffer, offset, length, position, done]: Parameters<RandomReader["read"]>): void {
      part(file, position, length).then((bytes) => {
        bytes.copy(buffer, offset);
        done(null);
      }, done);
    }
  }
  const archive = await fromRandomAccessReaderPromise(new Reader(), file.size, { autoClose: false });
  let seen = 0;
  for await (const entry of archive.eachEntry()) {
    if (++seen > ENTRIES_MAX) break;
    if (!/^Payload\/[^/]+\.app\/Info\.plist$/.test(entry.fileName)) continue;
    if (entry.uncompressedSize > INFO_MAX) throw new PackageError("is an app whose Info.plist is too large");
    const chunks: Buffer[] = [];
    // The stream ends with an error as soon as more comes out than the archive says.
    for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  throw new PackageError("is not an app for iPhones and iPads: it has no Payload/NAME.app/Info.plist");
}

const WINDOW = 256 * 1024;

/**
 * The file, of which small parts are read together with what follows: each read costs an opened file or a request to a
 * bucket, and an archive has thousands of entries.
 */
function aheadIn(file: PackageFile): PackageFile {
  let at = 0;
  let window: Buffer = Buffer.alloc(0);
  return {
    name: file.name,
    size: file.size,
    async read(start, end) {
      if (end - start > WINDOW) return file.read(start, end);
      if (start < at || end > at + window.length) {
        window = await file.read(start, Math.min(file.size, start + WINDOW));
        at = start;
      }
      return window.subarray(start - at, end - at);
    },
  };
}

const CHUNK_BYTES = 64 * 1024;

async function* rangesOf(file: PackageFile, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end; at += CHUNK_BYTES) yield part(file, at, Math.min(CHUNK_BYTES, end - at));
}
