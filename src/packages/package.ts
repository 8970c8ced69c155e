// What installer files say of themselves. Pure functions on ranges of a file, with limits: files may be hostile.

export const packageKinds = ["pkg", "msi", "exe", "deb", "rpm", "tar.gz", "ipa", "sh", "py", "ps1"] as const;
export type PackageKind = (typeof packageKinds)[number];
export type PackagePlatform = "darwin" | "windows" | "linux" | "ios";

export interface PackageInfo {
  readonly kind: PackageKind;
  readonly platform: PackagePlatform;
  /** Name of what the package installs, as hosts report it. */
  readonly name: string;
  /** Empty if the file does not say. */
  readonly version: string;
  /** The source under which hosts report it, such as `apps` or `deb_packages`. */
  readonly source: string;
  /** Identifier of an application for macOS, iOS or iPadOS; otherwise empty. */
  readonly bundleIdentifier: string;
  /** What the installer registers: identifiers of packages (pkg), the product code (msi), the package's name. */
  readonly packageIds: readonly string[];
  /** Upgrade code of an .msi file, equal for all versions of a product; otherwise empty. */
  readonly upgradeCode: string;
  /** Whether the file names an application that it installs. Others leave only what the installer registers. */
  readonly installsApp: boolean;
}

/** The file is not what its name says, or is damaged. The message is for whoever has uploaded it. */
export class PackageError extends Error {}

/** A file of which parts are read. */
export interface PackageFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Exactly the bytes from `start` to before `end`, which are inside of the file. */
  read(start: number, end: number): Promise<Buffer>;
}

/** The kind that the file's name stands for. Throws `PackageError`. */
export function kindOfName(name: string): PackageKind {
  const lower = name.toLowerCase();
  const kind = packageKinds.find((candidate) => lower.endsWith(`.${candidate}`));
  if (kind === undefined)
    throw new PackageError("the file has to be named .pkg, .msi, .exe, .deb, .rpm, .tar.gz, .ipa, .sh, .py or .ps1");
  return kind;
}

/** The file's name without folders and without what shows its kind. */
export const plainName = (name: string, kind: PackageKind): string => name.slice(0, -(kind.length + 1)) || name;

/** A part that has to be there. Throws `PackageError` if the file ends before it. */
export async function part(file: PackageFile, start: number, length: number): Promise<Buffer> {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(length) || start < 0 || length < 0) throw damaged();
  if (start + length > file.size) throw damaged();
  return length === 0 ? Buffer.alloc(0) : file.read(start, start + length);
}

/** Throws `PackageError` if the file ends before this position, though it states that it has bytes up to there. */
export function requireUpTo(file: PackageFile, end: number): void {
  if (end > file.size) throw damaged();
}

export const damaged = (): PackageError => new PackageError("the file is damaged or incomplete");

const TEXT_MAX = 255;

/** A text of the file as it is stored: one line, without control characters, of limited length. */
export const cleanText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, " ")
    .replace(/ +/g, " ")
    .trim()
    .slice(0, TEXT_MAX);

/** Runs a reader whose library throws errors of its own for damaged input. */
export async function guarded<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof PackageError ? error : damaged();
  }
}
