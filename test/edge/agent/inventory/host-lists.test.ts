import { describe, expect, it } from "vitest";
import { certificateName } from "../../../../src/server/certificates/certificates/inventory.ts";
import { darwinMdm, windowsMdm } from "../../../../src/server/hosts/mdm-status/inventory.ts";
import { changes, changesOf } from "./fixture.ts";

describe("users", () => {
  it("are people: no special types, no shells without login, no service names, no sync", () => {
    expect(changesOf("ubuntu-22.04").users).toEqual([
      { uid: 0, username: "root", type: "", groupname: "root", shell: "/bin/bash" },
      { uid: 1000, username: "dev", type: "", groupname: "dev", shell: "/usr/bin/fish" },
    ]);
    expect(changesOf("macos-14").users?.map(({ username }) => username)).toEqual(["root", "anna"]);
    expect(changesOf("windows-11").users?.map(({ username }) => username)).toEqual(["Administrator", "bob"]);
  });
  it("are kept if none is left", () => {
    expect(changesOf("arch").users).toBeNull();
    expect(changes({ users: [] }).users).toBeNull();
  });
  it("count once for two groups with one gid, and not without a uid", () => {
    const row = { uid: "501", username: "anna", shell: "/bin/zsh", groupname: "staff" };
    const { users, warnings } = changes({ users: [row, { ...row, groupname: "other" }, { ...row, uid: "x" }] });
    expect(users).toHaveLength(1);
    expect(users?.[0]?.groupname).toBe("staff");
    expect(warnings).toEqual([{ query: "users", reason: "a uid is missing or not a number" }]);
  });
});

describe("batteries", () => {
  const health = (cycle_count: unknown, max_capacity: unknown, designed_capacity: unknown = "5000") =>
    changes({ battery: [{ cycle_count, max_capacity, designed_capacity }] }, { platform: "darwin" }).batteries?.[0];

  it("have cycles and health", () => {
    expect(changesOf("macos-14").batteries).toEqual([{ cycle_count: 187, health: "Normal" }]);
    expect(changesOf("windows-11").batteries).toEqual([{ cycle_count: 0, health: "Service recommended" }]);
  });
  it.each([
    ["999", "4000", "Normal"],
    ["1000", "5000", "Service recommended"],
    ["1", "3999", "Service recommended"],
    ["1", "4000", "Normal"],
    ["1", "", "Unknown"],
    ["1", "much", "Unknown"],
    ["1000", "", "Service recommended"],
  ])("of %s cycles and %s of 5000 left: %s", (cycles, max, expected) => {
    expect(health(cycles, max)?.health).toBe(expected);
  });
  it("without a designed capacity are unknown, and the agent's own rating does not count", () => {
    expect(health("1", "4000", "0")?.health).toBe("Unknown");
    expect(changes({ battery: [{ health: "Good" }] }, { platform: "darwin" }).batteries?.[0]?.health).toBe("Unknown");
  });
  it("are cleared by a result without any", () => {
    expect(changes({ battery: [] }, { platform: "darwin" }).batteries).toEqual([]);
  });
});

describe("device management on macOS", () => {
  const mdm = (row: Record<string, string>) => changes({ mdm_darwin: [row] }, { platform: "darwin" });

  it("is reported with its product and without the query of its URL", () => {
    expect(changesOf("macos-14").mdm).toEqual({
      enrolled: true,
      installed_from_dep: true,
      enrollment_status: "On (automatic)",
      server_url: "https://acme.jamfcloud.com/mdm/ServerURL",
      name: "Jamf",
      is_server: null,
    });
  });
  it.each([
    ["true", "false", "On (manual)"],
    ["1", "", "On (manual)"],
    ["false", "true", "Pending"],
    ["false", "", "Off"],
  ])("enrolled %j from DEP %j is %s", (enrolled, dep, expected) => {
    expect(mdm({ enrolled, installed_from_dep: dep }).mdm?.enrollment_status).toBe(expected);
  });
  it("is ours by the identifier of its profile", () => {
    const row = { enrolled: "true", server_url: "https://x.jamf.example/" };
    const own = { name: "svc", payloadIdentifier: "com.own" };
    const name = (payload_identifier: string) => darwinMdm([{ ...row, payload_identifier }], own, () => {})?.name;
    expect([name("com.own"), name("com.other")]).toEqual(["svc", "Jamf"]);
  });
  it.each([
    ["https://a.web-api.kandji.io/mdm", "Kandji"],
    ["https://MDM.JumpCloud.com", "JumpCloud"],
    ["https://a.simplemdm.com", "SimpleMDM"],
    ["https://ds1.awmdm.com", "VMware Workspace ONE"],
    ["https://airwatch.example", "VMware Workspace ONE"],
    ["https://i.manage.microsoft.com", "Intune"],
    ["https://mdm.example", ""],
  ])("at %s is %j", (server_url, name) => {
    expect(mdm({ enrolled: "true", server_url }).mdm?.name).toBe(name);
  });
  it("is kept if the result does not contain it", () => {
    expect(mdm({ enrolled: "" }).mdm).toBeNull();
    expect(changes({ mdm_darwin: [] }, { platform: "darwin" }).mdm).toBeNull();
  });
});

describe("device management on Windows", () => {
  const key = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments\\A";
  const mdm = (values: Record<string, string>, os_windows: unknown[] | "failed" = []) =>
    changes(
      { mdm_windows: Object.entries(values).map(([name, data]) => ({ key, name, data })), os_windows },
      { platform: "windows" },
    ).mdm;
  const url = "https://mdm.example/discovery";

  it("is read from the live enrollment", () => {
    expect(changesOf("windows-11").mdm).toEqual({
      enrolled: true,
      installed_from_dep: true,
      enrollment_status: "On (automatic)",
      server_url: "https://enrollment.manage.microsoft.com/enrollmentserver/discovery.svc",
      name: "Intune",
      is_server: false,
    });
  });
  it("is off without an enrollment", () => {
    expect(changesOf("windows-10").mdm).toMatchObject({ enrolled: false, enrollment_status: "Off", server_url: "" });
  });
  it("needs a UPN and a live state; a missing state counts as 0", () => {
    expect(mdm({ UPN: "", DiscoveryServiceFullURL: url })?.enrollment_status).toBe("On (manual)");
    expect(mdm({ DiscoveryServiceFullURL: url })?.enrolled).toBe(false);
    for (const state of ["0", "1", "2", "3"])
      expect(mdm({ UPN: "u", EnrollmentState: state, DiscoveryServiceFullURL: url })?.enrolled).toBe(true);
    for (const state of ["4", "6", "x"])
      expect(mdm({ UPN: "u", EnrollmentState: state, DiscoveryServiceFullURL: url })?.enrolled).toBe(false);
  });
  it("is not an enrollment of apps, which somebody's account has on many private computers", () => {
    const apps = "https://wip.mam.manage.microsoft.com/Enroll";
    expect(mdm({ UPN: "u", EnrollmentState: "1", AADResourceID: "x", DiscoveryServiceFullURL: apps })).toMatchObject({
      enrolled: false,
      enrollment_status: "Off",
      server_url: "",
      name: "",
    });
    expect(mdm({ UPN: "u", DiscoveryServiceFullURL: "https://MAM.manage.microsoft.us/Enroll" })?.enrolled).toBe(false);
    const both = (...urls: string[]) =>
      urls.flatMap((data, i) => [
        { key: `${key}${i}`, name: "UPN", data: "u" },
        { key: `${key}${i}`, name: "DiscoveryServiceFullURL", data },
      ]);
    expect(windowsMdm(both(apps, url), null, undefined)).toMatchObject({ enrolled: true, server_url: url });
    expect(windowsMdm(both("https://mam.manage.microsoft.com.example/x"), null, undefined).enrolled).toBe(true);
  });
  it("is ours by its provider", () => {
    const values = { UPN: "u", ProviderID: "Own DM", DiscoveryServiceFullURL: url };
    const rows = Object.entries(values).map(([name, data]) => ({ key, name, data }));
    expect(windowsMdm(rows, null, { name: "svc", providerId: "Own DM" }).name).toBe("svc");
    expect(windowsMdm(rows, null, { name: "svc", providerId: "Another" }).name).toBe("");
  });
  it("of a server is marked, and not decided if the registry was not read", () => {
    expect(changesOf("windows-server-2022").mdm?.is_server).toBe(true);
    expect(mdm({ UPN: "u" }, "failed")?.is_server).toBeNull();
  });
});

describe("munki", () => {
  it("reports its issues, split and trimmed", () => {
    expect(changesOf("macos-14").munki).toEqual({
      version: "6.5.1.4661",
      issues: [
        { name: "Could not retrieve managed install primary manifest.", type: "error" },
        { name: "Disk full", type: "error" },
        { name: "Slow repo", type: "warning" },
      ],
    });
  });
  it("is removed without rows, and kept without a result", () => {
    expect(changes({ munki: [] }, { platform: "darwin" }).munki).toBe("removed");
    expect(changes({ munki: "failed" }, { platform: "darwin" }).munki).toBeNull();
  });
});

describe("browser profiles", () => {
  it("replace the addresses, each once", () => {
    expect(changesOf("macos-14").browserEmails).toEqual(["anna@example.com", "anna@home.example"]);
    expect(changes({ chrome_profiles: [] }).browserEmails).toEqual([]);
    expect(changes({ chrome_profiles: "failed" }).browserEmails).toBeNull();
  });
});

describe("certificates", () => {
  it("of macOS are reported by keychain", () => {
    const [root, own] = changesOf("macos-14").certificates ?? [];
    const name = {
      country: "US",
      organization: "Example/Inc",
      organizational_unit: "IT/Sec",
      common_name: "Example Root CA",
    };
    expect(root).toEqual({
      sha1: "9f744d9f2b4baec862e35c50dd605d0f2e5d1a11",
      scope: "system",
      username: "",
      not_valid_before: "2020-01-01T00:00:00.000Z",
      not_valid_after: "2030-01-01T00:00:00.000Z",
      certificate_authority: true,
      common_name: "Example Root CA",
      key_algorithm: "rsaEncryption",
      key_strength: 2048,
      key_usage: "CRL Sign, Key Cert Sign",
      serial: "00d1f5a9c3e4b7",
      signing_algorithm: "sha256WithRSAEncryption",
      subject: name,
      issuer: name,
    });
    expect(own).toMatchObject({ scope: "user", username: "anna", certificate_authority: false });
  });
  it("of Windows belong to a user by sid, otherwise to the system, each once", () => {
    expect(changesOf("windows-11").certificates?.map(({ sha1, scope, username }) => [sha1, scope, username])).toEqual([
      ["aa11", "user", "bob"],
      ["aa11", "system", ""],
      ["bb22", "system", ""],
    ]);
    expect(changesOf("windows-11").certificates?.[0]?.key_strength).toBe(2160);
  });
  it("are kept if there are no results", () => {
    expect(changes({ certificates_darwin: [] }, { platform: "darwin" }).certificates).toBeNull();
    expect(changes({ certificates_darwin: [{ sha1: "" }] }, { platform: "darwin" }).certificates).toBeNull();
  });
  it("have no time if there is none, and never one after the year 9999", () => {
    const made = { certificates_darwin: [{ sha1: "a", not_valid_before: "", not_valid_after: "99999999999999" }] };
    expect(changes(made, { platform: "darwin" }).certificates?.[0]).toMatchObject({
      not_valid_before: null,
      not_valid_after: "9999-12-31T23:59:59.999Z",
    });
  });
  it.each([
    ["/C=DE/ST=BY/O=A/B GmbH/OU=x/y/CN=CN=z", ["DE", "A/B GmbH", "x/y", "CN=z"]],
    ["/DC=com/CN=Users/CN=bob", ["", "", "", "bob"]],
    ["CN=plain", ["", "", "", "plain"]],
    ["/1.2.840.113549.1.9.1=a@b/CN=x", ["", "", "", "x"]],
    ["", ["", "", "", ""]],
  ])("split the name %j", (name, [country, organization, organizational_unit, common_name]) => {
    expect(certificateName(name)).toEqual({ country, organization, organizational_unit, common_name });
  });
});

describe("schedule statistics", () => {
  it("are reported by pack, for any delimiter", () => {
    for (const name of ["macos-14", "windows-11"] as const) {
      const packs = changesOf(name).packStats;
      expect(packs?.map(({ pack_name, type }) => [pack_name, type])).toEqual([
        ["Global", "global"],
        ["team-3", "team-3"],
      ]);
      expect(packs?.[0]?.query_stats).toEqual([
        {
          scheduled_query_name: "processes",
          query_name: "processes",
          pack_name: "Global",
          average_memory: 120_000,
          denylisted: false,
          executions: 12,
          interval: 3600,
          last_executed: "2024-10-27T03:50:00.000Z",
          output_size: 512,
          system_time: 20,
          user_time: 40,
          wall_time: 3120,
        },
        expect.objectContaining({ scheduled_query_name: "killer", executions: 0, denylisted: true }),
      ]);
    }
  });
  it("are split once, so that a query name may contain the delimiter", () => {
    expect(changesOf("macos-14").packStats?.[1]?.query_stats[0]?.scheduled_query_name).toBe("ports/listening");
    expect(changesOf("windows-11").packStats?.[1]?.query_stats[0]?.scheduled_query_name).toBe("ports_listening");
  });
  it("of old agents have seconds, and their own word for denylisted", () => {
    const row = { name: "pack/p/q", delimiter: "/", executions: "1", wall_time: "2", blacklisted: "1" };
    expect(changes({ schedule_stats: [row] }).packStats?.[0]).toMatchObject({
      type: "",
      query_stats: [{ wall_time: 2000, denylisted: true, last_executed: null }],
    });
  });
  it("without pack or delimiter are ignored", () => {
    const made = ["pack/", "pack/p", "pack/p/", "pack//q", ""].map((name) => ({ name, delimiter: "/", executions: 1 }));
    expect(changes({ schedule_stats: [...made, { name: "pack/p/q" }] }).packStats).toEqual([]);
  });
});
