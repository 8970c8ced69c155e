// The database of an installer package of Windows: the part that wixl writes from XML, and the tables it cannot write.
// See https://learn.microsoft.com/windows/win32/msi/database-tables.
import { createHash } from "node:crypto";
import { SetupError } from "../../setup.ts";

/** Equal in all versions, so that one replaces the other. */
const UPGRADE_CODE = "{0B7C9A64-5C1E-4E1B-9C37-6E1D7A2F4C10}";
const PROGRAM_GUID = "{0B7C9A64-5C1E-4E1B-9C37-6E1D7A2F4C11}";
const SETUP_GUID = "{0B7C9A64-5C1E-4E1B-9C37-6E1D7A2F4C12}";

/** Windows compares three numbers only, and they have limits. Throws a SetupError. */
export function productVersion(version: string): string {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  const limits = [255, 255, 65_535];
  if (parts.length === 3 && parts.every((part, i) => Number(part) <= limits[i]!)) return parts.map(Number).join(".");
  throw new SetupError("failed", `${version} is no version of an msi, which has three numbers up to 255.255.65535`);
}

/** A GUID that is equal for equal content (RFC 9562, version 8). */
export function guidOf(purpose: string, contents: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256").update(purpose);
  for (const content of contents) hash.update(`\0${content.length}\0`).update(content);
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex").toUpperCase();
  return `{${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}}`;
}

interface MsiFiles {
  /** The name of the agent's program. */
  readonly program: string;
  /** The names of the other files. */
  readonly setup: readonly string[];
}

const fileOf = (name: string, isKey: boolean): string =>
  `<File Id="${name}" Name="${name}" Source="${name}"${isKey ? ' KeyPath="yes"' : ""}/>`;

/** For wixl. The files are in the folder in which it runs. */
export const wixSource = (
  version: string,
  productCode: string,
  files: MsiFiles,
): string => `<?xml version="1.0" encoding="utf-8"?>
<Wix xmlns="http://schemas.microsoft.com/wix/2006/wi">
  <Product Id="${productCode}" Name="svc-agent" Language="1033" Version="${version}" Manufacturer="svc" UpgradeCode="${UPGRADE_CODE}">
    <Package InstallerVersion="500" Compressed="yes" InstallScope="perMachine" Description="agent of svc" Manufacturer="svc"/>
    <Condition Message="A newer version of svc-agent is installed.">Installed OR NOT NEWER</Condition>
    <Media Id="1" Cabinet="agent.cab" EmbedCab="yes"/>
    <Property Id="ARPNOMODIFY" Value="1"/>
    <Property Id="SecureCustomProperties" Value="OLDER;NEWER"/>
    <Directory Id="TARGETDIR" Name="SourceDir">
      <Directory Id="ProgramFiles64Folder">
        <Directory Id="INSTALLDIR" Name="svc-agent">
          <Component Id="Program" Guid="${PROGRAM_GUID}" Win64="yes">
            ${fileOf(files.program, true)}
          </Component>
          <Directory Id="SETUPDIR" Name="setup">
            <Component Id="Setup" Guid="${SETUP_GUID}" Win64="yes">
              <CreateFolder/>
              ${files.setup.map((name, i) => fileOf(name, i === 0)).join("\n              ")}
            </Component>
          </Directory>
        </Directory>
      </Directory>
    </Directory>
    <Feature Id="Agent" Level="1">
      <ComponentRef Id="Program"/>
      <ComponentRef Id="Setup"/>
    </Feature>
  </Product>
</Wix>
`;

/** Types of custom actions: a command in a folder; later in the transaction, or when it is undone; as the system. */
const COMMAND = 34;
const DEFERRED = 0x400;
const ROLLBACK = 0x500;
const AS_SYSTEM = 0x800;
/** The transaction goes on if it fails. */
const IGNORES_ERRORS = 0x40;

const commandOf = (file: string, argument = "") =>
  `"[System64Folder]cmd.exe" /d /s /c ""[#${file}]"${argument === "" ? "" : ` ${argument}`}"`;

/** `at`: InstallFiles is 4000, RemoveFiles 3500. What undoes an action precedes it. */
const actions = [
  { name: "UndoUninstall", type: ROLLBACK, command: commandOf("install.cmd"), when: 'REMOVE="ALL"', at: 3400 },
  { name: "Uninstall", type: DEFERRED, command: commandOf("uninstall.cmd"), when: 'REMOVE="ALL"', at: 3401 },
  { name: "UndoInstall", type: ROLLBACK, command: commandOf("uninstall.cmd", "undo"), when: "NOT Installed", at: 4101 },
  { name: "Install", type: DEFERRED, command: commandOf("install.cmd"), when: 'NOT REMOVE="ALL"', at: 4102 },
] as const;

/** Only the system and administrators, inherited by the files in a folder. */
const PROTECTED = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

/** Detects older versions, and this one with another setup; 0x100 and 0x200 include the limits, 2 only detects. */
const upgradesOf = (version: string) => [
  [UPGRADE_CODE, "0.0.0", version, "", "768", "", "OLDER"],
  [UPGRADE_CODE, version, "", "", "2", "", "NEWER"],
];

/** Files for msibuild, one for each table: names of columns, their types, the key, and rows. */
export function extraTables(version: string): Readonly<Record<string, string>> {
  const tableOf = (name: string, keys: readonly string[], columns: readonly string[], rows: readonly string[][]) =>
    [
      columns.map((column) => column.split(" ")[0]!),
      columns.map((column) => column.split(" ")[1]!),
      [name, ...keys],
      ...rows,
    ]
      .map((cells) => `${cells.join("\t")}\r\n`)
      .join("");
  return {
    Upgrade: tableOf(
      "Upgrade",
      ["UpgradeCode", "VersionMin", "VersionMax", "Language", "Attributes"],
      [
        "UpgradeCode s38",
        "VersionMin S20",
        "VersionMax S20",
        "Language S255",
        "Attributes i4",
        "Remove S255",
        "ActionProperty s72",
      ],
      upgradesOf(version),
    ),
    CustomAction: tableOf(
      "CustomAction",
      ["Action"],
      ["Action s72", "Type i2", "Source S72", "Target S255", "ExtendedType I4"],
      actions.map(({ name, type, command }) => [
        name,
        String(COMMAND + type + AS_SYSTEM + (name === "Install" ? 0 : IGNORES_ERRORS)),
        "SETUPDIR",
        command,
        "",
      ]),
    ),
    MsiLockPermissionsEx: tableOf(
      "MsiLockPermissionsEx",
      ["MsiLockPermissionsEx"],
      ["MsiLockPermissionsEx s72", "LockObject s72", "Table s32", "SDDLText s0", "Condition S255"],
      [
        ["LockSetup", "SETUPDIR", "CreateFolder", PROTECTED, ""],
        ["LockSecret", "secret", "File", PROTECTED.replaceAll("OICI", ""), ""],
      ],
    ),
  };
}

/** Statements for msibuild: when the actions run. The older version is removed first, in the same transaction. */
export const sequenceQueries: readonly string[] = [
  ...["InstallExecuteSequence", "InstallUISequence"].map(
    (table) => `INSERT INTO \`${table}\` (\`Action\`, \`Sequence\`) VALUES ('FindRelatedProducts', 25)`,
  ),
  "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('RemoveExistingProducts', 1501)",
  ...actions.map(
    ({ name, when, at }) =>
      `INSERT INTO \`InstallExecuteSequence\` (\`Action\`, \`Condition\`, \`Sequence\`) VALUES ('${name}', '${when}', ${at})`,
  ),
];
