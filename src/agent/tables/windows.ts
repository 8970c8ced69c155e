// Tables of Windows: the registry, programs, and what its own tools report.
import { join, win32 } from "node:path";
import { bounded } from "./homes.ts";
import { jsonFromPowerShell } from "./powershell.ts";
import { mapFew, namesIn, outputOf, readOr } from "./read.ts";
import { bigint, type Constraint, integer, type Table, type TableRow, text, WINDOWS } from "./table.ts";

interface Value {
  readonly key: string;
  readonly name: string;
  readonly type: string;
  readonly data: string;
}

/** What `reg query` prints: keys, and below each its values, indented. Numbers are decimal, as osquery has them. */
export function registryValues(output: string, keyPath: string): Value[] {
  const values: Value[] = [];
  let key = "";
  for (const line of output.split(/\r?\n/)) {
    const [, name, type, data = ""] = /^ {4}(.*?) {4}(REG_\w+)(?: {4}(.*))?$/.exec(line) ?? [];
    if (type !== undefined) {
      const isNumber = /^REG_[DQ]WORD/.test(type) && data.startsWith("0x");
      values.push({ key, name: name!, type, data: isNumber ? BigInt(data).toString() : data });
    } else if (/^HKEY_/.test(line)) {
      key = line;
      if (line.toLowerCase() !== keyPath.toLowerCase())
        values.push({ key: win32.dirname(line), name: win32.basename(line), type: "subkey", data: "" });
    }
  }
  return values;
}

/** The key to read, and whether with all below it. Null: a pattern without a key in front. */
export function registryKey({ value, isLike }: Constraint, isPath: boolean): { key: string; isDeep: boolean } | null {
  // `_` is part of every key's name, and is taken for itself.
  const pattern = isLike ? value.search(/[%*]/) : -1;
  const fixed = pattern < 0 ? value : value.slice(0, value.lastIndexOf("\\", pattern));
  const isDeep = pattern >= 0 && /%%|%.*\\/.test(value.slice(fixed.length));
  const key = pattern < 0 && isPath ? win32.dirname(fixed) : fixed;
  return /^HKEY_\w+/.test(key) ? { key, isDeep } : null;
}

const readKey = async (key: string, isDeep: boolean): Promise<Value[]> =>
  registryValues(await outputOf("reg.exe", ["query", key, ...(isDeep ? ["/s"] : [])]), key);

const UNINSTALL = "Microsoft\\Windows\\CurrentVersion\\Uninstall";

/** One row for each key with a name for people. */
export function programRows(values: readonly Value[]): TableRow[] {
  const keys = new Map<string, Map<string, string>>();
  for (const { key, name, type, data } of values) {
    if (type === "subkey") continue;
    const program = keys.get(key) ?? new Map<string, string>();
    keys.set(key, program.set(name, data));
  }
  return [...keys].flatMap(([key, program]) => {
    const name = program.get("DisplayName");
    if (!name) return [];
    const id = win32.basename(key);
    return [
      {
        name,
        version: program.get("DisplayVersion") ?? "",
        install_location: program.get("InstallLocation") ?? "",
        install_source: program.get("InstallSource") ?? "",
        language: program.get("Language") ?? "",
        publisher: program.get("Publisher") ?? "",
        uninstall_string: program.get("UninstallString") ?? "",
        install_date: program.get("InstallDate") ?? "",
        identifying_number: id.startsWith("{") ? id : "",
      },
    ];
  });
}

async function programs(): Promise<TableRow[]> {
  const users = (await readKey("HKEY_USERS", false)).filter(({ name }) => /^S-1-5-21-[\d-]+$/.test(name));
  const places = [
    `HKEY_LOCAL_MACHINE\\SOFTWARE\\${UNINSTALL}`,
    `HKEY_LOCAL_MACHINE\\SOFTWARE\\WOW6432Node\\${UNINSTALL}`,
  ];
  const keys = users.map(({ name }) => `HKEY_USERS\\${name}\\Software\\${UNINSTALL}`);
  const perSource = await Promise.all([
    mapFew(places, async (key) => programRows(await readKey(key, true))),
    mapFew(keys, async (key) => bounded(programRows(await readKey(key, true)))),
  ]);
  return perSource.flat(2);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const elementIn = (xml: string, name: string): string =>
  (new RegExp(`<${name}(?:\\s[^>]*)?>([^<]*)</${name}>`).exec(xml)?.[1] ?? "")
    .trim()
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity]!);

export const chocolateyRow = (nuspec: string, path: string): TableRow => ({
  name: elementIn(nuspec, "id"),
  version: elementIn(nuspec, "version"),
  summary: elementIn(nuspec, "summary"),
  author: elementIn(nuspec, "authors"),
  license: elementIn(nuspec, "licenseUrl"),
  path,
});

async function chocolateyPackages(): Promise<TableRow[]> {
  const lib = join(process.env.ChocolateyInstall ?? "C:\\ProgramData\\chocolatey", "lib");
  const rows = await mapFew(await namesIn(lib), async (name) => {
    const path = join(lib, name, `${name}.nuspec`);
    const nuspec = await readOr(path);
    return nuspec === "" ? [] : [chocolateyRow(nuspec, path)];
  });
  return rows.flat();
}

const CLASSES = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Classes\\CLSID";

async function ieExtensions(): Promise<TableRow[]> {
  const root = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Explorer\\Browser Helper Objects";
  const ids = (await readKey(root, false)).filter(({ type }) => type === "subkey");
  return mapFew(ids, async ({ name: id }) => {
    const values = await readKey(`${CLASSES}\\${id}`, true);
    const data = (key: string) => values.find((value) => value.key === key && value.name === "(Default)")?.data ?? "";
    const path = data(`${CLASSES}\\${id}\\InprocServer32`);
    return { name: data(`${CLASSES}\\${id}`), registry_path: `${root}\\${id}`, version: "", path };
  });
}

const ENCRYPTION: readonly string[] = [
  "None",
  "AES_128_WITH_DIFFUSER",
  "AES_256_WITH_DIFFUSER",
  "AES_128",
  "AES_256",
  "HARDWARE_ENCRYPTION",
  "XTS_AES_128",
  "XTS_AES_256",
];

/** A row from Win32_EncryptableVolume. */
export const bitlockerRow = (volume: Readonly<Record<string, string>>): TableRow => ({
  device_id: volume.DeviceID,
  drive_letter: volume.DriveLetter,
  persistent_volume_id: volume.PersistentVolumeID,
  conversion_status: Number(volume.ConversionStatus),
  protection_status: Number(volume.ProtectionStatus),
  encryption_method: ENCRYPTION[Number(volume.EncryptionMethod)] ?? "UNKNOWN",
});

const VOLUMES =
  "Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume | " +
  "Select-Object DeviceID, DriveLetter, PersistentVolumeID, ConversionStatus, ProtectionStatus, EncryptionMethod";
const PROTECTORS =
  "Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume | " +
  "ForEach-Object { $Volume = $_; (Invoke-CimMethod -InputObject $Volume -MethodName GetKeyProtectors " +
  "-Arguments @{ KeyProtectorType = [uint32]0 }).VolumeKeyProtectorID | ForEach-Object { [pscustomobject]@{ " +
  "DriveLetter = $Volume.DriveLetter; Type = (Invoke-CimMethod -InputObject $Volume -MethodName " +
  "GetKeyProtectorType -Arguments @{ VolumeKeyProtectorID = $_ }).KeyProtectorType } } }";
const FEATURES = "Get-CimInstance -ClassName Win32_OptionalFeature | Select-Object Name, Caption, InstallState";
const FEATURE_STATES: Readonly<Record<string, string>> = { 1: "Enabled", 2: "Disabled", 3: "Absent" };

export const windowsTables: readonly Table[] = [
  {
    name: "registry",
    platforms: WINDOWS,
    columns: { ...text("key path name type data"), ...bigint("mtime") },
    findsBy: ["key", "path"],
    async rows({ constraints: { key = [], path = [] } }) {
      const keys = [
        ...key.map((constraint) => registryKey(constraint, false)),
        ...path.map((constraint) => registryKey(constraint, true)),
      ];
      const values = await mapFew(
        keys.filter((key) => key !== null),
        ({ key, isDeep }) => readKey(key, isDeep),
      );
      return values.flat().map((value) => ({ ...value, path: `${value.key}\\${value.name}` }));
    },
  },
  {
    name: "programs",
    platforms: WINDOWS,
    columns: text(
      "name version install_location install_source language publisher uninstall_string install_date identifying_number package_family_name upgrade_code",
    ),
    rows: programs,
  },
  {
    name: "chocolatey_packages",
    platforms: WINDOWS,
    columns: text("name version summary author license path"),
    rows: chocolateyPackages,
  },
  {
    name: "ie_extensions",
    platforms: WINDOWS,
    columns: text("name registry_path version path"),
    rows: ieExtensions,
  },
  {
    name: "bitlocker_info",
    platforms: WINDOWS,
    columns: {
      ...text("device_id drive_letter persistent_volume_id"),
      ...integer("conversion_status protection_status"),
      ...text("encryption_method"),
      ...integer("version percentage_encrypted lock_status"),
    },
    rows: async () => (await jsonFromPowerShell(VOLUMES)).map(bitlockerRow),
  },
  {
    // A table of managed agents, not of osquery.
    name: "bitlocker_key_protectors",
    platforms: WINDOWS,
    columns: { ...text("drive_letter"), ...integer("key_protector_type") },
    rows: async () =>
      (await jsonFromPowerShell(PROTECTORS)).map(({ DriveLetter, Type }) => ({
        drive_letter: DriveLetter,
        key_protector_type: Number(Type),
      })),
  },
  {
    name: "windows_optional_features",
    platforms: WINDOWS,
    columns: { ...text("name caption"), ...integer("state"), ...text("statename") },
    rows: async () =>
      (await jsonFromPowerShell(FEATURES)).map(({ Name, Caption, InstallState = "" }) => ({
        name: Name,
        caption: Caption,
        state: Number(InstallState),
        statename: FEATURE_STATES[InstallState] ?? "Unknown",
      })),
  },
];
