// A failed reading does not erase what is known: blank values and placeholders of firmware are unknown.
import { describe, expect, it } from "vitest";
import { hardwareUuid, serialNumber } from "../../../../src/agent-wire/firmware.ts";
import { certificateName, hostCertificates } from "../../../../src/server/certificates/certificates/inventory.ts";
import { hostBatteries } from "../../../../src/server/hosts/hosts/inventory/batteries.ts";
import { hostUsers } from "../../../../src/server/hosts/hosts/inventory/users.ts";
import { startApp } from "../../../support/app.ts";
import { rulesEngines } from "../../../support/engines.ts";
import { agentCall } from "../../../support/managed.ts";
import { processorTime } from "../../../support/processor-time.ts";
import { enroll, makeSecret, SECRET, throughApp } from "../agents.ts";

describe.each(rulesEngines)("values that a host could not read, on %s", (engine) => {
  it.each([
    ["blank", { uuid: "", hostname: " ", hardware_serial: "", hardware_model: "", computer_name: "", cpu_brand: "" }],
    [
      "placeholders",
      {
        uuid: "03000200-0400-0500-0006-000700080009",
        hardware_serial: "System Serial Number",
        hardware_model: "Default string",
      },
    ],
  ])("leave what is known (%s)", async (_, failed) => {
    const t = await startApp({ engine });
    const send = throughApp(t);
    await makeSecret(t);
    const key = await enroll(send);
    const report = (system: Record<string, string>) =>
      send("/api/v1/qengine/distributed/write", {
        node_key: key,
        queries: { svc_detail_query_system_info: [system] },
        statuses: {},
      });
    const known = { uuid: "UUID-1", hostname: "h1", hardware_serial: "S1", hardware_model: "M1", computer_name: "c1" };
    const numbers = { physical_memory: "1024", cpu_logical_cores: "8", cpu_brand: "Fast" };
    expect((await report({ ...known, ...numbers })).status).toBe(200);
    expect((await report({ ...failed, physical_memory: "0", cpu_logical_cores: "" })).status).toBe(200);
    expect(await t.store.hosts.first({})).toMatchObject({
      ...known,
      memory: 1024,
      cpu_logical_cores: 8,
      cpu_brand: "Fast",
    });
  });
});

describe.each(rulesEngines)("placeholders of firmware in enrollments, on %s", (engine) => {
  const NO_UUID = "03000200-0400-0500-0006-000700080009";
  const details = { hostname: "", computer_name: "", hardware_model: "Default string" };

  it("are not stored by the managed agent, and name no host", async () => {
    const t = await startApp({ engine });
    await makeSecret(t);
    const enrollManaged = (more: Record<string, string>) =>
      agentCall(t, "/enroll", { enroll_secret: SECRET, hardware_uuid: NO_UUID, ...details, ...more });
    for (const serial of ["S1", "S2"]) expect((await enrollManaged({ hardware_serial: serial })).status).toBe(200);
    expect((await enrollManaged({ hardware_serial: "0", qengine_identifier: "own-id" })).status).toBe(200);
    const hosts = await t.store.hosts.list({ order: [{ column: "id", direction: "asc" }] });
    expect(hosts.map(({ identifier, uuid, hardware_serial }) => [identifier, uuid, hardware_serial])).toEqual([
      ["s1", "", "S1"],
      ["s2", "", "S2"],
      ["own-id", "", ""],
    ]);
    const refused = await enrollManaged({ hardware_serial: "Default string" });
    expect([refused.status, refused.json.errors[0].name]).toEqual([422, "hardware_uuid"]);
    expect(await t.store.hosts.count()).toBe(3);
  });

  it("do not erase what the managed agent has stored", async () => {
    const t = await startApp({ engine });
    await makeSecret(t);
    const enrollManaged = (more: Record<string, string>) =>
      agentCall(t, "/enroll", { enroll_secret: SECRET, qengine_identifier: "id-1", ...details, ...more });
    await enrollManaged({ hardware_uuid: "U1", hardware_serial: "S1", hardware_model: "M1", hostname: "h1" });
    await enrollManaged({ hardware_uuid: NO_UUID, hardware_serial: "None", hardware_model: "OEM" });
    expect(await t.store.hosts.list()).toMatchObject([
      { uuid: "U1", hardware_serial: "S1", hardware_model: "M1", hostname: "h1" },
    ]);
  });

  it("do not make one host of several machines whose UUID identifies them", async () => {
    const t = await startApp({ engine, settings: { host_identifier: "uuid" } });
    await makeSecret(t);
    const send = throughApp(t);
    for (const instance_id of ["i1", "i2"])
      await enroll(send, {
        host_identifier: NO_UUID,
        host_details: { osquery_info: { uuid: NO_UUID, instance_id } },
      });
    expect((await t.store.hosts.list()).map(({ identifier }) => identifier).sort()).toEqual(["i1", "i2"]);
  });

  it("find no Mac by a serial number that is none", async () => {
    const t = await startApp({ engine });
    await makeSecret(t);
    const send = throughApp(t);
    const mac = (id: string) => ({
      host_identifier: id,
      host_details: {
        os_version: { platform: "darwin" },
        system_info: { uuid: NO_UUID, hardware_serial: "System Serial Number", hostname: id },
      },
    });
    await enroll(send, mac("a"));
    await enroll(send, mac("b"));
    expect((await t.store.hosts.list()).map(({ uuid, hardware_serial }) => [uuid, hardware_serial])).toEqual([
      ["", ""],
      ["", ""],
    ]);
  });
});

describe.each(rulesEngines)("invisible characters in identifiers, on %s", (engine) => {
  it("make no second host of a machine", async () => {
    const t = await startApp({ engine });
    await makeSecret(t);
    const send = throughApp(t);
    for (const host_identifier of ["host-1", "host\u200b-1", "\ufeffhost-1\u2060"])
      await enroll(send, { host_identifier });
    for (const [hardware_uuid, hardware_serial] of [
      ["U-1", "S1"],
      ["U\u200b-1", "S1\u00ad"],
    ] as const)
      expect((await agentCall(t, "/enroll", { enroll_secret: SECRET, hardware_uuid, hardware_serial })).status).toBe(
        200,
      );
    const hosts = await t.store.hosts.list({ order: [{ column: "id", direction: "asc" }] });
    expect(hosts.map(({ identifier, uuid, hardware_serial }) => [identifier, uuid, hardware_serial])).toEqual([
      ["host-1", expect.any(String), expect.any(String)],
      ["u-1", "U-1", "S1"],
    ]);
  });
});

it.each(["To be filled by O.E.M.", "Default string", "System Serial Number", "0", "00000000", "-1", "None", "xxxx"])(
  "%s is no serial number",
  (text) => expect(serialNumber(text)).toBe(""),
);

it("real serial numbers and UUIDs stay as they are", () => {
  for (const serial of ["C02XK0AAJG5H", "0012345", "5E10", "VMware-56 4d 00"])
    expect(serialNumber(serial)).toBe(serial);
  expect(hardwareUuid("00000000-0000-0000-0000-000000000000")).toBe("");
  expect(hardwareUuid("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")).toBe("");
  expect(hardwareUuid("4C4C4544-0042-3610-8051-B4C04F4D3332")).toBe("4C4C4544-0042-3610-8051-B4C04F4D3332");
});

it("an account without a uid is left out, instead of being root", () => {
  const warnings: string[] = [];
  const rows = [
    { uid: "", username: "ghost", shell: "/bin/sh" },
    { uid: "501", username: "ada", shell: "/bin/sh" },
  ];
  expect(hostUsers(rows, (_, reason) => void warnings.push(reason))).toMatchObject([{ uid: 501, username: "ada" }]);
  expect(warnings).toHaveLength(1);
});

it("batteries of Apple silicon are judged by percent", () => {
  const healthOf = (designed_capacity: string, max_capacity: string, platform = "darwin") =>
    hostBatteries([{ cycle_count: "10", designed_capacity, max_capacity }], platform)[0]!.health;
  expect(healthOf("6249", "97")).toBe("Normal");
  expect(healthOf("6249", "79")).toBe("Service recommended");
  expect(healthOf("6249", "5100")).toBe("Normal");
  expect(healthOf("6249", "4000")).toBe("Service recommended");
  expect(healthOf("100", "79")).toBe("Service recommended");
  expect(healthOf("", "93")).toBe("Normal");
  expect(healthOf("", "")).toBe("Unknown");
  // Batteries of other makers that hold nothing any more.
  expect(healthOf("4200", "90", "windows")).toBe("Service recommended");
  expect(healthOf("", "90", "windows")).toBe("Unknown");
});

it("names of certificates that are joined by + have all their values", () => {
  expect(certificateName("/C=US/O=Example+OU=IT+CN=host.example")).toMatchObject({
    organization: "Example",
    organizational_unit: "IT",
    common_name: "host.example",
  });
  expect(certificateName("/CN=a+b").common_name).toBe("a+b");
});

it.each([
  // OpenSSL, by agents on macOS.
  [
    'C = US, O = "Example, Inc.", OU = Engineering + OU = IT, CN = host.example',
    { country: "US", organization: "Example, Inc.", organizational_unit: "IT", common_name: "host.example" },
  ],
  ["O = Caf\\C3\\A9 \\+ more, CN = \\D0\\90", { organization: "Café + more", common_name: "А" }],
  ['CN = "say \\"a=b\\" \\\\ c"', { common_name: 'say "a=b" \\ c' }],
  ["CN = a/b=c, O = ", { common_name: "a/b=c", organization: "" }],
  // Windows.
  ['C=US, O="Example, ""Inc.""", OU=A + OU=B, CN=host', { organization: 'Example, "Inc."', organizational_unit: "B" }],
  ['OID.1.2.3=x, SERIALNUMBER=7, E=a@example.com, CN="O=fake"', { common_name: "O=fake", organization: "" }],
  ["CN=DOMAIN\\user, O=x", { common_name: "DOMAIN\\user", organization: "x" }],
  // What is no such name leaves the other column in place.
  ["host.example", { common_name: "former", organization: "Former" }],
  ["", { common_name: "former", organization: "Former" }],
  ['CN = "unfinished', { common_name: "former" }],
])("names in newer columns of certificates are read: %s", (subject2, expected) => {
  const row = { sha1: "AA", subject: "/O=Former/CN=former", subject2, issuer: "/CN=i", issuer2: "CN = issuer 2" };
  const [certificate] = hostCertificates([row], "darwin")!;
  expect(certificate!.subject).toMatchObject(expected);
  expect(certificate!.common_name).toBe(certificate!.subject.common_name);
  expect(certificate!.issuer.common_name).toBe("issuer 2");
});

it("names of certificates are read in linear time", () => {
  for (const bad of [
    `CN=${"\\".repeat(4095)}`,
    `CN="${'""'.repeat(2000)}`,
    `CN = ${" ".repeat(4000)}`,
    "A".repeat(4096),
  ]) {
    const rows = Array.from({ length: 50 }, (_, i) => ({ sha1: `A${i}`, subject2: bad, issuer2: bad }));
    expect(processorTime(() => hostCertificates(rows, "windows"))).toBeLessThan(2_500);
  }
});
