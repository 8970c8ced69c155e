// Debian packages: an `ar` archive whose member control.tar describes the package (deb(5), deb-control(5)).
import {
  cleanText,
  damaged,
  guarded,
  PackageError,
  type PackageFile,
  type PackageInfo,
  part,
  requireUpTo,
} from "./package.ts";
import { type Packing, unpack } from "./unpack.ts";

const MAGIC = "!<arch>\n";
const HEADER = 60;
const MEMBERS_MAX = 100;
const CONTROL_MAX = 4 * 1024 * 1024;

const packings: Readonly<Record<string, Packing>> = {
  "control.tar": "none",
  "control.tar.gz": "gz",
  "control.tar.xz": "xz",
  "control.tar.zst": "zst",
};

export async function readDeb(file: PackageFile): Promise<PackageInfo> {
  const magic = file.size < MAGIC.length ? "" : (await part(file, 0, MAGIC.length)).toString("latin1");
  if (magic !== MAGIC) throw new PackageError("is not a Debian package");
  const fields = fieldsOf(await controlOf(file));
  const name = fields.get("package") ?? "";
  if (!/^[a-z0-9][a-z0-9+.-]*$/i.test(name)) throw new PackageError("is a Debian package without a name");
  return {
    kind: "deb",
    platform: "linux",
    name: cleanText(name),
    version: cleanText(fields.get("version") ?? ""),
    source: "deb_packages",
    bundleIdentifier: "",
    packageIds: [cleanText(name)],
    upgradeCode: "",
    installsApp: false,
  };
}

/** Walks all members: a download that was cut off ends in one, or before the data. */
async function controlOf(file: PackageFile): Promise<string> {
  let control: string | null = null;
  let hasData = false;
  let at = MAGIC.length;
  for (let members = 0; members < MEMBERS_MAX && at < file.size; members++) {
    const header = (await part(file, at, HEADER)).toString("latin1");
    const size = /^\d{1,10} *$/.test(header.slice(48, 58)) ? Number.parseInt(header.slice(48, 58), 10) : Number.NaN;
    if (header.slice(58) !== "`\n" || Number.isNaN(size)) throw damaged();
    const name = header.slice(0, 16).replace(/\/? *$/, "");
    const packing = Object.hasOwn(packings, name) ? packings[name] : undefined;
    if (packing !== undefined && control === null) {
      if (size > CONTROL_MAX) throw new PackageError("the description of the package is too large");
      control = await controlIn(await unpack(await part(file, at + HEADER, size), packing));
    }
    requireUpTo(file, at + HEADER + size);
    hasData ||= /^data\.tar(\.|$)/.test(name);
    // dpkg ignores what follows the data.
    if (hasData && control !== null) return control;
    at += HEADER + size + (size % 2);
  }
  if (control === null) throw new PackageError("is a Debian package without a description");
  throw damaged();
}

async function controlIn(tar: Buffer): Promise<string> {
  const { parseTar } = await import("nanotar");
  const entries = await guarded(() => parseTar(new Uint8Array(tar)));
  const control = entries.find(({ name }) => name.replace(/^(\.\/)+/, "") === "control");
  if (control?.data === undefined) throw new PackageError("is a Debian package without a description");
  return Buffer.from(control.data).toString("utf8");
}

/** The fields of the first paragraph, by lower-case name. */
function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.replace(/\r/g, "").split("\n")) {
    if (line === "" && fields.size > 0) break;
    const match = /^([\w-]+):(.*)$/.exec(line);
    if (match) fields.set(match[1]!.toLowerCase(), match[2]!.trim());
  }
  return fields;
}
