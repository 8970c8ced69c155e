// A failed reading does not erase what is known: blank values and placeholders of firmware are unknown.
import { describe, expect, it } from "vitest";
import { hardwareUuid, serialNumber } from "../../../src/server/agent-protocol/placeholders.ts";
import { certificateName } from "../../../src/server/certificates/inventory.ts";
import { hostBatteries } from "../../../src/server/hosts/inventory/batteries.ts";
import { hostUsers } from "../../../src/server/hosts/inventory/users.ts";
import { startApp } from "../../support/app.ts";
import { rulesEngines } from "../../support/engines.ts";
import { enroll, makeSecret, throughApp } from "../agents.ts";

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
  const healthOf = (designed_capacity: string, max_capacity: string) =>
    hostBatteries([{ cycle_count: "10", designed_capacity, max_capacity }])[0]!.health;
  expect(healthOf("6249", "97")).toBe("Normal");
  expect(healthOf("6249", "79")).toBe("Service recommended");
  expect(healthOf("6249", "5100")).toBe("Normal");
  expect(healthOf("6249", "4000")).toBe("Service recommended");
  expect(healthOf("", "")).toBe("Unknown");
});

it("names of certificates that are joined by + have all their values", () => {
  expect(certificateName("/C=US/O=Example+OU=IT+CN=host.example")).toMatchObject({
    organization: "Example",
    organizational_unit: "IT",
    common_name: "host.example",
  });
  expect(certificateName("/CN=a+b").common_name).toBe("a+b");
});
