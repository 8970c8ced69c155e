import { describe, expect, it } from "vitest";
import type { Machine } from "../../src/simulator/inventory/machine.ts";
import { PLATFORMS } from "../../src/simulator/inventory/platforms.ts";
import { discoveryAnswer } from "../../src/simulator/inventory/registry.ts";
import { DETAIL_QUERIES } from "./detail-queries.ts";
import { ask, findMachine, makeMachine } from "./machines.ts";

/** Queries that correctly return nothing on some platforms. */
const MAY_BE_EMPTY = new Set([
  "software_portage",
  "software_choco",
  "software_ie",
  "battery",
  "mdm_windows",
  "schedule_stats",
]);

describe.each(PLATFORMS)("a $key machine", (platform) => {
  const machine = makeMachine(platform.key);
  const queries = Object.entries(DETAIL_QUERIES);

  it.each(queries.filter(([, q]) => q.on.includes(platform.family)))("has rows for %s", (name, query) => {
    if (query.discovery) {
      const found = ask(machine, query.discovery);
      expect(found.status).toBe(0);
      if (found.rows.length === 0) return;
    }
    const answer = ask(machine, query.sql);
    expect(answer).toMatchObject({ status: 0, message: "" });
    expect(answer.rows).not.toContainEqual({ "1": "1" });
    for (const row of answer.rows) for (const value of Object.values(row)) expect(typeof value).toBe("string");
    const packages = { software_deb: "deb", software_rpm: "rpm" }[name];
    const share = platform.packages === "none" || name.startsWith("software_");
    if (packages) expect(answer.rows.length > 0).toBe(platform.packages === packages);
    else if (!MAY_BE_EMPTY.has(name) && !share) expect(answer.rows.length).toBeGreaterThan(0);
  });

  it("has no extension tables and refuses those of other platforms", () => {
    for (const table of ["mdm", "munki_info", "google_chrome_profiles", "orbit_info"]) {
      expect(ask(machine, `SELECT * FROM ${table}`)).toMatchObject({ status: 1, message: `no such table: ${table}` });
    }
    const foreign = platform.family === "windows" ? "mounts" : "programs";
    expect(ask(machine, `SELECT * FROM ${foreign}`)).toMatchObject({ status: 1, message: `no such table: ${foreign}` });
  });

  it("has a default route with a private address and the MAC of its interface", () => {
    const sql = DETAIL_QUERIES[platform.family === "windows" ? "net_windows" : "net_unix"]!.sql;
    const [row] = ask(machine, sql).rows;
    expect(row!.address).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect(row!.mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    expect(Object.keys(row!)).toEqual(["metric", "address", "mac"]);
  });
});

describe("the software of a machine", () => {
  it("is mostly shared, has one item of its own, and changes one item at a time", () => {
    const sql = DETAIL_QUERIES.software_deb!.sql;
    const [a, b] = [makeMachine("ubuntu", {}, 1), makeMachine("ubuntu", {}, 2)];
    const names = (machine: typeof a) => new Set(ask(machine, sql).rows.map((row) => row.name));
    const shared = [...names(a)].filter((name) => names(b).has(name)).length;
    expect(shared).toBeGreaterThan(70);
    expect(shared).toBeLessThan(names(a).size);

    const before = ask(a, sql, { changes: 3 }).rows.map((row) => JSON.stringify(row));
    const after = ask(a, sql, { changes: 4 }).rows.map((row) => JSON.stringify(row));
    expect(after.filter((row) => !before.includes(row))).toHaveLength(1);
  });

  it("has the number of items in softwarePerHost", () => {
    const count = (softwarePerHost: number) =>
      ask(makeMachine("ubuntu", { softwarePerHost }), "SELECT COUNT(*) AS n FROM deb_packages").rows[0]!.n;
    expect([count(100), count(1000)]).toEqual(["80", "800"]);
  });

  it("of one user is only visible in a join with users", () => {
    const machine = findMachine("macos", (m) => m.agentVersion === "5.23.0");
    expect(ask(machine, "SELECT name FROM chrome_extensions").rows).toEqual([]);
    expect(ask(machine, DETAIL_QUERIES.software_chrome!.sql).rows.length).toBeGreaterThan(5);
  });

  it("of Python has no uid column before 5.16", () => {
    const machine = findMachine("macos", (m) => m.agentVersion === "5.12.1");
    expect(ask(machine, DETAIL_QUERIES.software_python!.sql)).toMatchObject({
      status: 1,
      message: "no such column: p.uid",
    });
    expect(ask(machine, "SELECT name, version, path FROM python_packages").rows.length).toBeGreaterThan(5);
  });
});

describe("machines", () => {
  it("are the same for the same seed and differ for another", () => {
    const text = (seed: number) =>
      Object.values(DETAIL_QUERIES).map((query) => ask(makeMachine("macos", { seed }), query.sql));
    expect(text(3)).toEqual(text(3));
    expect(text(3)).not.toEqual(text(4));
  });

  it("differ in hostname, uuid, serial, address and MAC", () => {
    const all = Array.from({ length: 2000 }, (_, i) => makeMachine(undefined, {}, i));
    for (const key of ["hostname", "uuid", "serial", "instanceId"] as const) {
      expect(new Set(all.map((machine) => machine[key])).size).toBe(2000);
    }
    const macs = all.map(
      (machine) => ask(machine, "SELECT mac FROM interface_details WHERE mac NOT LIKE '00:%'").rows[0]!.mac,
    );
    expect(new Set(macs).size).toBe(2000);
  });

  it("have unusual serial numbers and old agents only with quirks", () => {
    const serials = (quirks: boolean) => Array.from({ length: 2000 }, (_, i) => makeMachine(undefined, { quirks }, i));
    expect(serials(false).every((m) => m.serial.length === 10 && !m.old)).toBe(true);
    const share = (wanted: string) => serials(true).filter((m) => m.serial === wanted).length / 2000;
    expect(share("")).toBeGreaterThan(0.07);
    expect(share("")).toBeLessThan(0.13);
    expect(share("-1")).toBeGreaterThan(0.03);
    expect(share("-1")).toBeLessThan(0.07);
    expect(serials(true).some((m) => m.old)).toBe(true);
  });

  it("have orbit_info when managed", () => {
    const machine = makeMachine("ubuntu", { managed: 1 });
    expect(ask(machine, DETAIL_QUERIES.agent_info!.discovery!).rows).toHaveLength(1);
    expect(ask(machine, DETAIL_QUERIES.agent_info!.sql).rows[0]).toMatchObject({ version: "1.40.1" });
  });

  it("change over time", () => {
    const machine = makeMachine("macos");
    const uptime = (unixTime: number) =>
      ask(machine, "SELECT total_seconds FROM uptime", { unixTime }).rows[0]!.total_seconds;
    expect([uptime(1_759_990_100), uptime(1_759_990_200)]).toEqual(["100", "200"]);
  });

  it("only have the given platforms", () => {
    expect(makeMachine("linux").platform.family).toBe("linux");
    expect(() => makeMachine("beos")).toThrow(/unknown platform beos/);
  });
});

describe("the registry of tables", () => {
  const aboutTable = (name: string) => `SELECT 1 FROM osquery_registry WHERE registry = 'table' AND name = '${name}';`;
  const finds = (machine: Machine, sql: string) =>
    discoveryAnswer(sql, machine, (asked) => ask(machine, asked)).rows.length > 0;

  it("is remembered for machines of one platform and version, with or without the managed agent", () => {
    for (let round = 0; round < 2; round++) {
      const windows = makeMachine("windows");
      expect(finds(windows, aboutTable("programs"))).toBe(true);
      expect(finds(windows, aboutTable("mounts"))).toBe(false);
      expect(finds(windows, aboutTable("orbit_info"))).toBe(false);
      expect(finds(makeMachine("windows", { managed: 1 }), aboutTable("orbit_info"))).toBe(true);
      expect(finds(makeMachine("ubuntu"), aboutTable("programs"))).toBe(false);
    }
  });

  it("is remembered for questions about nothing else", () => {
    const machine = makeMachine("ubuntu");
    const asked: string[] = [];
    const count = (sql: string) => {
      for (let round = 0; round < 2; round++)
        discoveryAnswer(sql, machine, (one) => {
          asked.push(one);
          return ask(machine, one);
        });
    };
    count(aboutTable("etc_services"));
    const other = "SELECT 1 FROM osquery_registry WHERE name IN (SELECT name FROM deb_packages);";
    count(other);
    expect(asked).toEqual([aboutTable("etc_services"), other, other]);
  });
});
