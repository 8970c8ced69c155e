// Reads what an installer file says of itself.
import { readDeb } from "./deb.ts";
import { readExe } from "./exe.ts";
import { readIpa } from "./ipa.ts";
import { readMsi } from "./msi.ts";
import {
  cleanText,
  damaged,
  kindOfName,
  PackageError,
  type PackageFile,
  type PackageInfo,
  type PackageKind,
  type PackagePlatform,
  part,
  plainName,
} from "./package.ts";
import { readPkg } from "./pkg.ts";
import { readRpm } from "./rpm.ts";

const readers: Readonly<Record<PackageKind, (file: PackageFile) => Promise<PackageInfo>>> = {
  pkg: readPkg,
  msi: readMsi,
  exe: readExe,
  deb: readDeb,
  rpm: readRpm,
  "tar.gz": readTarball,
  ipa: readIpa,
  sh: (file) => readScript(file, "sh", "linux"),
  py: (file) => readScript(file, "py", "linux"),
  ps1: (file) => readScript(file, "ps1", "windows"),
};

/**
 * Reads the file by the kind that its name stands for, in parts: memory does not depend on its size. Throws
 * `PackageError` for a file that is not of its kind; errors of reading it are passed on.
 */
export async function readPackage(file: PackageFile): Promise<PackageInfo> {
  const kind = kindOfName(file.name);
  if (file.size === 0) throw new PackageError("the file is empty");
  let failure: { readonly error: unknown } | null = null;
  const read: PackageFile["read"] = async (start, end) => {
    try {
      return await file.read(start, end);
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };
  try {
    return await readers[kind]({ name: file.name, size: file.size, read });
  } catch (error) {
    // What a broken connection has cut off must not count as damage of the file.
    throw (failure as { readonly error: unknown } | null)?.error ?? error;
  }
}

const TAR_BLOCK = 512;
/** Some tools let an archive end with an empty gzip member: an empty block, and zero as checksum and size. */
const EMPTY_END = Buffer.from("03000000000000000000", "hex");

/** A tarball says nothing of itself but its name. */
async function readTarball(file: PackageFile): Promise<PackageInfo> {
  const start = file.size < 18 ? null : await part(file, 0, 3);
  if (start?.toString("hex") !== "1f8b08") throw new PackageError("is not a compressed tar archive");
  // RFC 1952: the last four bytes are the size of the content, and a tar archive consists of blocks. A file that was cut
  // off ends with any bytes, often with zeros, so this finds almost all of them without unpacking anything.
  const end = await part(file, file.size - EMPTY_END.length, EMPTY_END.length);
  const size = end.readUInt32LE(EMPTY_END.length - 4);
  if (size % TAR_BLOCK !== 0 || (size === 0 && !end.equals(EMPTY_END))) throw damaged();
  return named(file, "tar.gz", "linux", "tgz_packages");
}

const readScript = async (file: PackageFile, kind: "sh" | "py" | "ps1", platform: PackagePlatform) =>
  named(file, kind, platform, `${kind}_packages`);

const named = (file: PackageFile, kind: PackageKind, platform: PackagePlatform, source: string): PackageInfo => ({
  kind,
  platform,
  name: cleanText(plainName(file.name, kind)),
  version: "",
  source,
  bundleIdentifier: "",
  packageIds: [],
  upgradeCode: "",
  installsApp: false,
});
