// Windows Installer packages: the table Property of the database in a compound file.
import { CompoundFile } from "./compound-file.ts";
import { cleanText, damaged, PackageError, type PackageFile, type PackageInfo, plainName } from "./package.ts";

const POOL_MAX = 4 * 1024 * 1024;
const DATA_MAX = 64 * 1024 * 1024;
const PROPERTIES_MAX = 1024 * 1024;

export async function readMsi(file: PackageFile): Promise<PackageInfo> {
  const database = await CompoundFile.open(file);
  if (!database) throw new PackageError("is not a Windows Installer package");
  const streamOf = async (table: string, most: number): Promise<Buffer> => {
    const name = database.names.find((candidate) => plainStreamName(candidate) === `!${table}`);
    const bytes = name === undefined ? null : await database.stream(name, most);
    if (bytes === null) throw new PackageError("is not a Windows Installer package: it has no properties");
    return bytes;
  };
  const pool = await streamOf("_StringPool", POOL_MAX);
  const data = await streamOf("_StringData", DATA_MAX);
  const properties = propertiesIn(await streamOf("Property", PROPERTIES_MAX), pool, data);
  const propertyText = (name: string) => cleanText(properties.get(name) ?? "");
  const productCode = propertyText("ProductCode");
  return {
    kind: "msi",
    platform: "windows",
    name: propertyText("ProductName") || plainName(file.name, "msi"),
    version: propertyText("ProductVersion"),
    source: "programs",
    bundleIdentifier: "",
    packageIds: productCode === "" ? [] : [productCode],
    upgradeCode: propertyText("UpgradeCode"),
    installsApp: false,
  };
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._";

/** Names of streams have two characters in one, and begin with a sign of their own if they are tables. */
export function plainStreamName(name: string): string {
  let plain = "";
  for (const character of name) {
    const code = character.charCodeAt(0);
    if (code === 0x4840) plain += "!";
    else if (code >= 0x4800 && code < 0x4840) plain += ALPHABET[code - 0x4800];
    else if (code >= 0x3800 && code < 0x4800)
      plain += `${ALPHABET[(code - 0x3800) & 0x3f]}${ALPHABET[(code - 0x3800) >> 6]}`;
    else plain += character;
  }
  return plain;
}

/** The table has two columns of references to texts, the one after the other. */
function propertiesIn(table: Buffer, pool: Buffer, data: Buffer): ReadonlyMap<string, string> {
  if (pool.length < 4) throw damaged();
  const width = (pool.readUInt16LE(2) & 0x8000) === 0 ? 2 : 3;
  const texts = textsIn(pool, data);
  const rows = Math.floor(table.length / (2 * width));
  const reference = (index: number): number => table.readUIntLE(index * width, width);
  const properties = new Map<string, string>();
  for (let row = 0; row < rows; row++) properties.set(texts[reference(row)] ?? "", texts[reference(rows + row)] ?? "");
  return properties;
}

/** By their reference; texts of more than 64 KiB have their length in two entries. */
function textsIn(pool: Buffer, data: Buffer): readonly string[] {
  const isUtf8 = (pool.readUInt32LE(0) & 0x7fff_ffff) === 65001;
  const texts = [""];
  let at = 0;
  for (let entry = 4; entry + 4 <= pool.length; entry += 4) {
    let length = pool.readUInt16LE(entry);
    const uses = pool.readUInt16LE(entry + 2);
    if (length === 0 && uses !== 0) {
      entry += 4;
      if (entry + 4 > pool.length) throw damaged();
      length = pool.readUInt16LE(entry) + pool.readUInt16LE(entry + 2) * 65_536;
    }
    if (at + length > data.length) throw damaged();
    // Texts of other code pages are those of properties only in their ASCII part.
    texts.push(length > 4096 ? "" : data.toString(isUtf8 ? "utf8" : "latin1", at, at + length));
    at += length;
  }
  return texts;
}
