import { describe, expect, it } from "vitest";
import { managedAgentInventory } from "../../../../src/server/delivery/managed-agent/inventory.ts";
import { enrollChanges } from "../../../../src/server/edge/agent/inventory/host-fields.ts";
import { displayName } from "../../../../src/server/hosts/hosts/inventory-fields.ts";
import { changes, changesOf, context, type Fixture } from "./fixture.ts";

describe("a host's operating system", () => {
  it.each<[Fixture, string, string, string]>([
    ["macos-14", "darwin", "macOS 14.5.0", "14.5.0"],
    ["macos-15", "darwin", "macOS 15.1.1 (a)", "15.1.1"],
    ["ubuntu-22.04", "ubuntu", "Ubuntu 22.04.4 LTS", "22.04.4 LTS"],
    ["debian-12", "debian", "Debian GNU/Linux 12.0.0", "12.0.0"],
    ["rhel-9", "rhel", "Red Hat Enterprise Linux 9.4.0", "9.4.0"],
    ["centos-7", "centos", "CentOS Linux 7.9.2009", "7.9.2009"],
    ["arch", "arch", "Arch Linux rolling", "rolling"],
    ["windows-11", "windows", "Windows 11 Enterprise 23H2 10.0.22631.4317", "10.0.22631.4317"],
    ["windows-10", "windows", "Windows 10 Pro 10.0.19041.264", "10.0.19041.264"],
    ["windows-server-2022", "windows", "Windows Server 2022 Datacenter 21H2 10.0.20348.2762", "10.0.20348.2762"],
  ])("of %s is determined by platform, name and version", (name, platform, osVersion, version) => {
    const { set, os } = changesOf(name);
    expect(set).toMatchObject({ platform, os_version: osVersion });
    expect(os).toMatchObject({ platform, version });
  });

  it("keeps the system's own name for filters", () => {
    expect(changesOf("windows-11").os?.name).toBe("Microsoft Windows 11 Enterprise");
    expect(changesOf("ubuntu-22.04").os?.name).toBe("Ubuntu");
  });

  it("copies platform_like, code name and build", () => {
    expect(changesOf("ubuntu-22.04").set).toMatchObject({ platform_like: "debian", code_name: "jammy" });
    // Ubuntu reports an empty build.
    expect(changesOf("ubuntu-22.04").set).not.toHaveProperty("build");
    expect(changesOf("macos-14").set.build).toBe("23F79");
  });

  it.each([
    ["Chrome OS", { name: "Chrome OS", version: "126.0.6478.222", platform: "chrome" }, "Chrome OS 126.0.6478.222"],
    ["empty parts", { name: "Void", major: "", minor: "", patch: "", build: "", platform: "void" }, "Void"],
    ["missing patch", { name: "CentOS", major: "7", minor: "", patch: "", platform: "centos" }, "CentOS 7"],
    ["one part not 0", { name: "X", major: "0", minor: "0", patch: "3", build: "b", platform: "arch" }, "X 0.0.3"],
    ["numbers", { name: "macOS", major: 14, minor: 2, patch: 1, platform: "darwin" }, "macOS 14.2.1"],
    ["nested brackets", { name: "Ubuntu", version: "24.04 LTS (N (N))", platform: "ubuntu" }, "Ubuntu 24.04 LTS"],
  ])("reads %s", (_, row, expected) => {
    expect(changes({ os_version: [row] }).set.os_version).toBe(expected);
  });

  it("keeps a Windows build while the registry query fails", () => {
    const row = { name: "Microsoft Windows 11 Pro", version: "10.0.22631", platform: "windows" };
    const known = { platform: "windows", os_version: "Windows 11 Pro 23H2 10.0.22631.4317" };
    const kept = changes({ os_version: [row], os_windows: "failed" }, known);
    expect(kept.set).not.toHaveProperty("os_version");
    expect(kept.os).toBeNull();
    const upgraded = changes({ os_version: [{ ...row, version: "10.0.26100" }], os_windows: "failed" }, known);
    expect(upgraded.set.os_version).toBe("Windows 11 Pro 10.0.26100");
    expect(changes({ os_version: [row] }).set.os_version).toBe("Windows 11 Pro 10.0.22631");
  });

  it("keeps a known platform if the agent leaves it empty", () => {
    expect(changes({ os_version: [{ name: "Thing", platform: "" }] }, { platform: "arch" }).set.platform).toBe("arch");
  });
});

describe("queries without results", () => {
  it("keep the known values, if failed or absent", () => {
    const { set, users, batteries } = changes({ system_info: "failed", uptime: "failed" });
    expect(set).toEqual({ public_ip: "203.0.113.5" });
    expect([users, batteries]).toEqual([null, null]);
  });

  it("change nothing at all if the write has no details", () => {
    expect(changes({})).toMatchObject({ set: {}, warnings: [] });
  });

  it.each(["os_version", "qengine_info", "system_info", "uptime", "disk_unix", "diskenc_darwin", "agent_info"])(
    "%s with any number of rows but one is reported, and the values are kept",
    (key) => {
      for (const rows of [[], [{ a: "1" }, { a: "2" }]]) {
        const { set, warnings } = changes({ [key]: rows }, { platform: "darwin" });
        expect(set).toEqual({ public_ip: "203.0.113.5" });
        expect(warnings).toEqual([{ query: key, reason: `expected one row, got ${rows.length}` }]);
      }
    },
  );

  it("of another platform are ignored", () => {
    const made = { diskenc_darwin: [{ unlocked_by: "3" }], diskenc_linux: [{ path: "/", encrypted: "0" }] };
    expect(changes(made, { platform: "ubuntu" }).set.disk_encryption_enabled).toBe(false);
    expect(changes(made, { platform: "darwin" }).set.disk_encryption_enabled).toBe(true);
    expect(changes(made, { platform: "windows" }).set).not.toHaveProperty("disk_encryption_enabled");
  });
});

describe("system_info", () => {
  it("is copied, with cores and memory as numbers", () => {
    expect(changesOf("macos-14").set).toMatchObject({
      hostname: "annas-mbp.local",
      uuid: "E5A1B2C3-1111-5222-8333-944445555666",
      computer_name: "Anna’s MacBook Pro",
      display_name: "Anna’s MacBook Pro",
      cpu_type: "arm64e",
      cpu_subtype: "ARM64E",
      cpu_brand: "Apple M2 Pro",
      cpu_physical_cores: 10,
      cpu_logical_cores: 10,
      memory: 34_359_738_368,
      hardware_vendor: "Apple Inc.",
      hardware_model: "Mac14,10",
      hardware_version: "1.0",
      hardware_serial: "C02XG8JHJG5L",
    });
  });

  it('ignores a serial of "-1" and an empty one', () => {
    expect(changesOf("macos-15").set).not.toHaveProperty("hardware_serial");
    expect(changesOf("windows-10").set).not.toHaveProperty("hardware_serial");
  });

  it("ignores columns that this agent does not have or that contain no number", () => {
    const { set } = changes({ system_info: [{ hostname: "h", physical_memory: "lots" }] }, { memory: 7 });
    expect(set).toEqual({ hostname: "h", display_name: "h", memory: 7, public_ip: "203.0.113.5" });
  });

  it("clamps 64-bit numbers beyond JavaScript's range", () => {
    const { set } = changes({ system_info: [{ physical_memory: "18446744073709551615", cpu_logical_cores: "-4" }] });
    expect(set).toMatchObject({ memory: Number.MAX_SAFE_INTEGER, cpu_logical_cores: 0 });
  });

  it("truncates texts to the length of an index, never inside a character", () => {
    const { set } = changes({ system_info: [{ hostname: `${"h".repeat(254)}😀`, uuid: "u\0\ud800" }] });
    expect(set.hostname).toBe("h".repeat(254));
    expect(set.uuid).toBe("u\ufffd\ufffd");
  });

  it("builds the display name from known and new values", () => {
    const known = { hardware_model: "KVM", hardware_serial: "S9" };
    expect(changesOf("centos-7", known).set.display_name).toBe("KVM (S9)");
    expect(displayName({ computer_name: "c", hostname: "h" })).toBe("c");
    expect(displayName({ computer_name: "", hostname: "h", hardware_model: "m", hardware_serial: "s" })).toBe("h");
    expect(displayName({ hardware_model: "m", hardware_serial: "" })).toBe("");
  });
});

describe("uptime", () => {
  it("is in nanoseconds, exact beyond 104 days", () => {
    expect(changesOf("ubuntu-22.04").set.uptime).toBe(9_900_000_000_000_000);
    expect(BigInt(changes({ uptime: [{ total_seconds: "123456789" }] }).set.uptime ?? 0)).toBe(123456789000000000n);
  });
  it("determines the last restart", () => {
    expect(changesOf("windows-11").set.last_restarted_at).toBe("2026-03-01T09:30:00.000Z");
  });
  it.each(["0", ""])("of %j determines none", (total_seconds) => {
    expect(changes({ uptime: [{ total_seconds }] }).set).toMatchObject({ uptime: 0, last_restarted_at: null });
  });
  it("with invalid values is ignored", () => {
    expect(changes({ uptime: [{ total_seconds: "a while" }] }).set).not.toHaveProperty("uptime");
  });
});

describe("flags", () => {
  it("prefer config_tls_refresh to its newer name", () => {
    expect(changesOf("windows-11").set).toMatchObject({
      distributed_interval: 10,
      config_tls_refresh: 60,
      logger_tls_period: 10,
    });
    expect(changesOf("arch").set.config_tls_refresh).toBe(60);
  });
  it("that are not reported are kept", () => {
    const { set } = changes({ flags: [{ name: "distributed_interval", value: "" }] });
    expect(set).toMatchObject({ distributed_interval: 0 });
    expect(set).not.toHaveProperty("config_tls_refresh");
  });
});

describe("addresses", () => {
  const net = (...rows: [string, string][]) =>
    changes({ net_unix: rows.map(([metric, address], i) => ({ metric, address, mac: `m${i}` })) }).set;

  it("use the private one, IPv4 before IPv6 and link-local", () => {
    expect(changesOf("macos-14").set).toMatchObject({ primary_ip: "192.168.1.23", primary_mac: "a4:83:e7:00:11:22" });
  });
  it("use the lowest metric on Windows", () => {
    expect(changesOf("windows-11").set.primary_ip).toBe("192.168.178.40");
  });
  it("prefer the lowest metric to the address family", () => {
    expect(net(["100", "10.0.0.1"], ["50", "fd00::1%en0"])).toMatchObject({ primary_ip: "fd00::1", primary_mac: "m1" });
    expect(net(["", "10.0.0.1"], ["1", "10.0.0.2"]).primary_ip).toBe("10.0.0.1");
    expect(net(["1", "10.0.0.1"], ["1", "10.0.0.2"]).primary_ip).toBe("10.0.0.1");
  });
  it("are kept if none is private", () => {
    expect(changesOf("arch").set).not.toHaveProperty("primary_ip");
    expect(net(["0", "172.32.0.1"], ["0", "172.15.0.1"], ["0", "11.0.0.1"], ["0", "fe80::1"])).not.toHaveProperty(
      "primary_ip",
    );
  });
  it.each(["172.16.0.1", "172.31.255.255", "10.255.0.1", "192.168.0.1", "fc00::1", "fdff::1"])(
    "count %s as private",
    (address) => expect(net(["0", address]).primary_ip).toBe(address),
  );
  it("use the public one from the request", () => {
    const at = (publicIp: string) => changes({ uptime: "failed" }, {}, { publicIp }).set.public_ip;
    expect(at("2001:db8::1")).toBe("2001:db8::1");
    expect(at("::ffff:198.51.100.1")).toBe("198.51.100.1");
    expect(at("unknown")).toBe("");
  });
});

describe("disks", () => {
  it("are in decimal gigabytes, two decimals and a whole percentage on unix", () => {
    expect(changesOf("ubuntu-22.04").set).toMatchObject({
      gigs_total_disk_space: 42.01,
      gigs_disk_space_available: 21,
      percent_disk_space_available: 49,
    });
  });
  it("are integers on Windows", () => {
    expect(changesOf("windows-11").set).toMatchObject({
      gigs_total_disk_space: 511,
      gigs_disk_space_available: 128,
      percent_disk_space_available: 25,
    });
  });
  it("of nothing are 0, with invalid values unknown", () => {
    expect(changesOf("windows-10").set).toMatchObject({ gigs_total_disk_space: 0, percent_disk_space_available: 0 });
    expect(changes({ disk_unix: [{ blocks: "many" }] }).set).not.toHaveProperty("gigs_total_disk_space");
  });
  it.each<[Fixture, boolean | null]>([
    ["macos-14", true],
    ["ubuntu-22.04", true],
    ["rhel-9", false],
    ["debian-12", null],
    ["windows-11", true],
    ["windows-10", false],
  ])("of %s are encrypted: %s", (name, expected) => {
    expect(changesOf(name).set.disk_encryption_enabled).toBe(expected);
  });
  it("keep their encryption if BitLocker could not be read, and need a user to unlock them on macOS", () => {
    expect(changesOf("windows-server-2022").set).not.toHaveProperty("disk_encryption_enabled");
    const mac = changes({ diskenc_darwin: [{ unlocked_by: "0" }] }, { platform: "darwin" });
    expect(mac.set.disk_encryption_enabled).toBe(false);
    const suspended = { diskenc_windows: [{ drive_letter: "C:", protection_status: "2" }] };
    expect(changes(suspended, { platform: "windows" }).set.disk_encryption_enabled).toBe(false);
  });
});

describe("the managed agent", () => {
  it("reports its versions", () => {
    expect(changesOf("macos-14").set).toMatchObject({
      agent_version: "1.34.0",
      svc_desktop_version: "1.34.0",
      scripts_enabled: true,
    });
  });
  it("has null for columns that its version lacks, and empty text for a missing desktop app", () => {
    expect(changesOf("rhel-9").set).toMatchObject({
      agent_version: "1.22.0",
      svc_desktop_version: null,
      scripts_enabled: null,
    });
    const row = { version: "1.30.0", desktop_version: "", scripts_enabled: "0" };
    expect(changes({ agent_info: [row] }).set).toMatchObject({ svc_desktop_version: "", scripts_enabled: false });
  });
  it("is absent if a complete set of details arrived without its table", () => {
    expect(changesOf("ubuntu-22.04").set).toMatchObject({ agent_version: null, scripts_enabled: null });
  });
  it("is kept after a partial or failed result", () => {
    expect(changes({ mdm_windows: [] }).set).not.toHaveProperty("agent_version");
    expect(changes({ uptime: [{}], flags: [], agent_info: "failed" }).set).not.toHaveProperty("agent_version");
  });
});

describe("an enrollment", () => {
  const details = {
    os_version: { name: "Ubuntu", version: "22.04.4 LTS (Jammy Jellyfish)", platform: "ubuntu" },
    osquery_info: { version: "5.12.1", uuid: "u" },
    system_info: { hostname: "h1.example", uuid: "u", hardware_serial: "S1", physical_memory: "17179869184" },
    platform_info: { vendor: "x" },
  };
  it("reports the basics by the same rules", () => {
    expect(enrollChanges(details, "9", context()).set).toEqual({
      platform: "ubuntu",
      os_version: "Ubuntu 22.04.4 LTS",
      qengine_version: "5.12.1",
      hostname: "h1.example",
      uuid: "u",
      hardware_serial: "S1",
      memory: 17_179_869_184,
      display_name: "h1.example",
      public_ip: "203.0.113.5",
    });
  });
  it("does not remove a managed agent", () => {
    expect(managedAgentInventory.read(enrollChanges(details, "9", context()).answers)).toBeNull();
  });
  it.each([
    ["9", "linux"],
    ["21", "darwin"],
    ["2", "windows"],
    [9, "linux"],
    ["x", undefined],
    [{}, undefined],
  ])("without os_version determines the platform by its mask %j", (mask, platform) => {
    for (const none of [null, "", [], 3, { os_version: "x" }])
      expect(enrollChanges(none, mask, context()).set.platform).toBe(platform);
  });
});
