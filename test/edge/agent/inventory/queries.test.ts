import { describe, expect, it } from "vitest";
import { agentVersionOf, DetailQueries } from "../../../../src/server/edge/agent/inventory/detail-queries.ts";
import { HOUR_MS } from "../../../../src/server/edge/agent/inventory/due.ts";
import { platformFamily } from "../../../../src/server/platform/core/platforms.ts";
import { detailQueries } from "./fixture.ts";

const all = { enable_host_users: true, enable_software_inventory: true };
const ask = (platform: string, agentVersion = "5.16.0", features = all) =>
  detailQueries.for({ platform, features, agentVersion });
const keys = (set: { queries: object }) =>
  Object.keys(set.queries).map((name) => name.replace("svc_detail_query_", ""));

describe("the detail queries of a host", () => {
  it("are those of its platform", () => {
    expect(keys(ask("ubuntu"))).toEqual(
      expect.arrayContaining(["os_version", "net_unix", "software_deb", "software_rpm", "diskenc_linux", "users"]),
    );
    expect(keys(ask("ubuntu")).filter((key) => /windows|darwin|apps|programs|munki|battery/.test(key))).toEqual([]);
    expect(keys(ask("windows"))).toEqual(
      expect.arrayContaining([
        "os_windows",
        "net_windows",
        "disk_windows",
        "diskenc_windows",
        "bitlocker_pin",
        "mdm_windows",
        "battery",
      ]),
    );
    expect(keys(ask("windows"))).not.toContain("net_unix");
    expect(keys(ask("darwin"))).toEqual(expect.arrayContaining(["software_apps", "mdm_darwin", "munki", "net_unix"]));
    expect(keys(ask("chrome"))).not.toContain("flags");
    expect(keys(ask("chrome"))).toContain("system_info");
  });

  it("are those of all platforms while it is unknown, except one whose discovery would make the others fail", () => {
    const common = [...detailQueries.byName.values()].filter(
      ({ name, perHost }) => name !== "diskenc_windows" && !perHost,
    );
    const known = common.map(({ name }) => name);
    expect(keys(ask(""))).toEqual(known);
    for (const sql of Object.values(ask("", "5.1.0").discovery))
      expect(sql).toMatch(/^SELECT 1$|^SELECT 1 FROM osquery_registry WHERE /);
  });

  it("omit those that are turned off", () => {
    const none = keys(ask("darwin", "5.16.0", { enable_host_users: false, enable_software_inventory: false }));
    expect(none.filter((key) => key === "users" || key.startsWith("software_"))).toEqual([]);
    expect(keys(ask("darwin", "5.16.0", { ...all, enable_host_users: false }))).toContain("software_apps");
    expect(keys(ask("darwin", "5.16.0", { ...all, enable_software_inventory: false }))).toContain("users");
  });

  it("all have a discovery entry for agents before 5.8, and for unknown ones", () => {
    for (const version of ["5.7.0", "4.9.0", ""]) {
      const { queries, discovery } = ask("windows", version);
      expect(Object.keys(discovery)).toEqual(Object.keys(queries));
      expect(discovery.svc_detail_query_os_version).toBe("SELECT 1");
    }
    const { discovery } = ask("windows", "5.8.1");
    expect(Object.values(discovery)).not.toContain("SELECT 1");
    expect(discovery.svc_detail_query_battery).toContain("name = 'battery'");
  });

  it("join users to Python packages from 5.16 on", () => {
    const python = (version: string) => ask("debian", version).queries.svc_detail_query_software_python;
    expect(python("5.16.0")).toContain("CROSS JOIN python_packages");
    expect(python("6.0.0")).toContain("CROSS JOIN python_packages");
    for (const version of ["5.15.0", "5.9.1", ""]) expect(python(version)).not.toContain("users");
  });

  it("omit BitLocker for agents that lack the table that its discovery reads", () => {
    expect(keys(ask("windows", "4.2.0"))).not.toContain("diskenc_windows");
    expect(keys(ask("windows", ""))).not.toContain("diskenc_windows");
    expect(keys(ask("windows", "4.3.0"))).toContain("diskenc_windows");
  });

  it("with an interval are asked in their turn only", () => {
    const daily = { name: "daily", platforms: "all", sql: "SELECT 1;", interval: 24 * HOUR_MS } as const;
    const queries = new DetailQueries([{ queries: [daily], read: () => null }]);
    const named = (isTurn?: (interval: number) => boolean) =>
      keys(queries.for({ platform: "ubuntu", features: all, agentVersion: "5.16.0", ...(isTurn ? { isTurn } : {}) }));
    expect(named()).toContain("daily");
    expect(named((interval) => interval === daily.interval)).toContain("daily");
    expect(named(() => false)).not.toContain("daily");
    expect(named(() => false)).toContain("uptime");
  });

  it("have different names", () => {
    const twice = { queries: [{ name: "uptime", platforms: "all", sql: "SELECT 1;" }], read: () => null } as const;
    expect(() => new DetailQueries([twice])).toThrow("same name");
  });

  it("can be limited to those for the MDM state", () => {
    const critical = (platform: string) =>
      keys(detailQueries.for({ platform, features: all, agentVersion: "5.16.0", criticalOnly: true }));
    expect(critical("darwin")).toEqual(["mdm_darwin"]);
    expect(critical("windows")).toEqual(["os_windows", "mdm_windows"]);
    expect(critical("ubuntu")).toEqual([]);
  });

  it("are the same object for similar hosts, and cannot be changed", () => {
    expect(ask("ubuntu", "5.12.1")).toBe(ask("rhel", "5.9.0"));
    expect(ask("ubuntu", "5.12.1")).not.toBe(ask("ubuntu", "5.17.0"));
    expect(Object.isFrozen(ask("ubuntu").queries)).toBe(true);
  });

  it("never contain an empty text, which would truncate the reply", () => {
    for (const platform of ["", "darwin", "windows", "ubuntu", "chrome"])
      for (const version of ["", "5.0.0", "5.9.0", "5.20.0"]) {
        const { queries, discovery } = ask(platform, version);
        for (const sql of [...Object.values(queries), ...Object.values(discovery)]) expect(sql.trim()).not.toBe("");
        for (const name of Object.keys(discovery)) expect(queries).toHaveProperty(name);
      }
  });
});

it.each([
  ["5.12.1", [5, 12]],
  ["5.9.1-12-gabc", [5, 9]],
  ["5.16.0-dirty", [5, 16]],
  ["", [0, 0]],
  ["nightly", [0, 0]],
  ["5", [0, 0]],
])("parses the agent version %j", (version, expected) => expect(agentVersionOf(version)).toEqual(expected));

it.each([
  ["ubuntu", "", "linux"],
  ["opensuse-leap", "", "linux"],
  ["darwin", "", "darwin"],
  ["windows", "", "windows"],
  ["chrome", "", "other"],
  ["freebsd", "", "other"],
  ["", "debian", "unknown"],
  ["rocky", "rhel centos fedora", "linux"],
  ["alpine", "", "linux"],
  ["bottlerocket", "", "linux"],
  ["freebsd", "", "other"],
  ["opnsense", "FreeBSD", "other"],
  ["android", "", "other"],
])("platform %j like %j is %s", (platform, like, family) => expect(platformFamily(platform, like)).toBe(family));
