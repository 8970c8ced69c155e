// Tables of Windows and macOS: what the agent makes of the output of their own programs, and which tables the server asks
// hosts with these systems for.
import { generate } from "selfsigned";
import { describe, expect, it } from "vitest";
import { tablesFor } from "../../src/agent/tables/all.ts";
import { appRow } from "../../src/agent/tables/apps.ts";
import { certificateRow, storeRows } from "../../src/agent/tables/certificates.ts";
import { objectsIn } from "../../src/agent/tables/powershell.ts";
import {
  bitlockerRow,
  chocolateyRow,
  programRows,
  registryKey,
  registryValues,
} from "../../src/agent/tables/windows.ts";
import { builtinLabels } from "../../src/server/hosts/labels/builtin-labels.ts";
import { detailQueries } from "../edge/agent/inventory/fixture.ts";

const VERSION = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";

describe("what the server asks hosts", () => {
  /** Tables without which a query is not asked. */
  const guarded = (discovery: string | undefined) => discovery?.includes("osquery_registry") === true;

  it.each([
    ["darwin", "darwin", ["safari_extensions"]],
    ["windows", "win32", []],
    ["debian", "linux", []],
    ["rhel", "linux", []],
  ] as const)("with %s is in a table that the agent has", (platform, node, without) => {
    const features = { enable_host_users: true, enable_software_inventory: true };
    const { queries, discovery } = detailQueries.for({ platform, features, agentVersion: "5.12.1" });
    const asked = Object.entries(queries).flatMap(([name, sql]) => (guarded(discovery[name]) ? [] : [sql]));
    const all = [...asked, ...Object.values(discovery), ...builtinLabels.map(({ query }) => query)];
    const named = all.flatMap((sql) => [...sql.matchAll(/\b(?:FROM|JOIN)\s+([a-z_0-9]+)/gi)].map(([, name]) => name!));
    const own = tablesFor(node);
    expect([...new Set(named.filter((name) => !own.has(name)))]).toEqual(without);
  });
});

describe("the registry of Windows", () => {
  const output = [
    "",
    VERSION,
    "    DisplayVersion    REG_SZ    22H2",
    "    UBR    REG_DWORD    0x1131",
    "    (Default)    REG_SZ    ",
    "    Two words    REG_EXPAND_SZ    C:\\a    b",
    "",
    `${VERSION}\\Fonts`,
    "",
  ].join("\r\n");

  it("has values with decimal numbers, and keys below", () => {
    expect(registryValues(output, VERSION.toLowerCase())).toEqual([
      { key: VERSION, name: "DisplayVersion", type: "REG_SZ", data: "22H2" },
      { key: VERSION, name: "UBR", type: "REG_DWORD", data: "4401" },
      { key: VERSION, name: "(Default)", type: "REG_SZ", data: "" },
      { key: VERSION, name: "Two words", type: "REG_EXPAND_SZ", data: "C:\\a    b" },
      { key: VERSION, name: "Fonts", type: "subkey", data: "" },
    ]);
    expect(registryValues("ERROR: The system was unable to find the key\r\n", VERSION)).toEqual([]);
  });

  it("is read from the key in front of a pattern, and no further than needed", () => {
    const of = (value: string, isLike: boolean, isPath: boolean) => registryKey({ value, isLike }, isPath);
    expect(of(VERSION, false, false)).toEqual({ key: VERSION, isDeep: false });
    expect(of(`${VERSION}\\UBR`, false, true)).toEqual({ key: VERSION, isDeep: false });
    const enrollments = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments";
    expect(of(`${enrollments}\\%%`, true, true)).toEqual({ key: enrollments, isDeep: true });
    expect(of(`${enrollments}\\%`, true, true)).toEqual({ key: enrollments, isDeep: false });
    expect(of(`${enrollments}\\%\\UPN`, true, true)).toEqual({ key: enrollments, isDeep: true });
    for (const other of ["/s", "%", "C:\\x"]) expect(of(other, true, true)).toBeNull();
  });

  it("names the programs that are installed", () => {
    const key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall";
    const text = [
      key,
      `${key}\\{A-1}`,
      "    DisplayName    REG_SZ    Example Tool",
      "    DisplayVersion    REG_SZ    1.2",
      "    Publisher    REG_SZ    Example Ltd",
      `${key}\\Without a name`,
      "    DisplayVersion    REG_SZ    3",
    ].join("\n");
    expect(programRows(registryValues(text, key))).toEqual([
      expect.objectContaining({
        name: "Example Tool",
        version: "1.2",
        publisher: "Example Ltd",
        identifying_number: "{A-1}",
      }),
    ]);
  });
});

describe("other tables of Windows", () => {
  it("are read from packages of Chocolatey", () => {
    const nuspec =
      '<?xml version="1.0"?><package><metadata><id>git</id><version>2.44.0</version><authors>A &amp; B</authors></metadata></package>';
    expect(chocolateyRow(nuspec, "C:\\p")).toMatchObject({ name: "git", version: "2.44.0", author: "A & B" });
  });

  it("are read from what PowerShell writes, of one object or several", () => {
    const volume = {
      DeviceID: "\\\\?\\V",
      DriveLetter: "C:",
      ConversionStatus: 1,
      ProtectionStatus: 1,
      EncryptionMethod: 7,
      PersistentVolumeID: null,
    };
    for (const json of [volume, [volume]])
      expect(objectsIn(JSON.stringify(json)).map(bitlockerRow)).toEqual([
        {
          device_id: "\\\\?\\V",
          drive_letter: "C:",
          persistent_volume_id: "",
          conversion_status: 1,
          protection_status: 1,
          encryption_method: "XTS_AES_256",
        },
      ]);
    expect(objectsIn("")).toEqual([]);
    expect(objectsIn("[1, null]")).toEqual([]);
  });
});

describe("certificates", () => {
  it("have the columns of osquery", async () => {
    const made = await generate([
      { name: "countryName", value: "US" },
      { name: "commonName", value: "host.example.com" },
    ]);
    const row = certificateRow(made.cert)!;
    expect(row).toMatchObject({
      common_name: "host.example.com",
      subject: "/C=US/CN=host.example.com",
      self_signed: 1,
      key_algorithm: "rsa",
      sha1: made.fingerprint.replaceAll(":", "").toLowerCase(),
    });
    expect(Number(row.not_valid_after)).toBeGreaterThan(Number(row.not_valid_before));
    const raw = made.cert.replace(/-----[A-Z ]+-----|\s/g, "");
    expect(storeRows([{ Location: "LocalMachine", Store: "My", Raw: raw }])).toEqual([
      expect.objectContaining({ ...row, store: "Personal", store_location: "LocalMachine" }),
    ]);
    expect(storeRows([{ Location: "LocalMachine", Store: "My", Raw: "AAAA" }])).toEqual([]);
  });
});

describe("applications of macOS", () => {
  it("are described by their Info.plist", () => {
    const info = `<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0">
<dict>
\t<key>CFBundleIdentifier</key>
\t<string>com.example.tool</string>
\t<key>CFBundleDocumentTypes</key>
\t<array>
\t\t<dict>
\t\t\t<key>CFBundleName</key>
\t\t\t<string>not this one</string>
\t\t</dict>
\t</array>
\t<key>CFBundleName</key>
\t<string>A &amp; B</string>
\t<key>CFBundleShortVersionString</key>
\t<string>4.1</string>
\t<key>LSUIElement</key>
\t<true/>
</dict>
</plist>
`;
    expect(appRow(info, "/Applications/Tool.app")).toMatchObject({
      name: "Tool.app",
      path: "/Applications/Tool.app",
      bundle_identifier: "com.example.tool",
      bundle_name: "A & B",
      bundle_short_version: "4.1",
      element: "1",
      bundle_version: "",
      last_opened_time: -1,
    });
  });
});
