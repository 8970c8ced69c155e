// The agent's SQL, and the tables of this machine (Linux).
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readHardware } from "../../src/agent/machine/hardware.ts";
import { assignments, readOs } from "../../src/agent/machine/os.ts";
import { Session } from "../../src/agent/queries/sqlite.ts";
import { tablesFor } from "../../src/agent/tables/all.ts";
import { ipv4, ipv6 } from "../../src/agent/tables/network.ts";
import { apkPackages, debPackages, pacmanPackage } from "../../src/agent/tables/packages.ts";
import { crontabRows } from "../../src/agent/tables/services.ts";
import { settingRows } from "../../src/agent/tables/settings-files.ts";
import { ENGINE_VERSION } from "../../src/agent/tables/system.ts";
import { builtinLabels } from "../../src/server/hosts/labels/builtin-labels.ts";
import { DEVICE_TABLES } from "../../src/simulator/inventory/tables-device.ts";
import { detailQueries } from "../edge/agent/inventory/fixture.ts";
import { root } from "../support/cli.ts";

const tables = tablesFor("linux");
let session: Session;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-tables-"));
  session = await Session.open(tables, {
    hardware: await readHardware({ uuid: "U-1", serial: "S-1" }),
    os: await readOs(),
    instanceId: "I-1",
    agentVersion: "1.2.3",
    runsScripts: true,
    startedAt: 1_700_000_000,
    flags: { distributed_interval: "10", pack_delimiter: "/" },
  });
});
afterEach(async () => {
  session.close();
  await rm(folder, { recursive: true });
});

async function rowsOf(sql: string) {
  const { status, message, rows } = await session.answer(sql);
  expect([status, message], sql).toEqual([0, ""]);
  return rows;
}

describe("what the server asks Linux hosts", () => {
  const ask = { features: { enable_host_users: true, enable_software_inventory: true }, agentVersion: ENGINE_VERSION };
  const { queries, discovery } = detailQueries.for({ platform: "debian", ...ask });

  it.each(Object.entries(queries))("is answered without an error: %s", async (name, sql) => {
    const found = discovery[name] === undefined ? [{}] : await rowsOf(discovery[name]);
    if (found.length > 0) await rowsOf(sql);
  });

  it("includes the machine's name, disk and address", async () => {
    expect(await rowsOf(queries.svc_detail_query_system_info!)).toEqual([
      expect.objectContaining({ uuid: "U-1", hardware_serial: "S-1", hostname: expect.stringMatching(/./) }),
    ]);
    const [disk] = await rowsOf(queries.svc_detail_query_disk_unix!);
    expect(Number(disk!.blocks) * Number(disk!.blocks_size)).toBeGreaterThan(1e6);
    expect((await rowsOf(queries.svc_detail_query_users!)).map(({ username }) => username)).toContain("root");
  });

  it("is answered for labels", async () => {
    for (const { query } of builtinLabels) if (query !== "") await rowsOf(query);
    expect(await rowsOf(builtinLabels.find(({ name }) => name === "All Linux")!.query)).toEqual([{ "1": "1" }]);
  });

  it("is answered for the policies and reports of the examples", async () => {
    const files = ["lib/policies-security.yml", "lib/policies-updates.yml", "lib/reports.yml", "teams/servers.yml"];
    const asked = await Promise.all(
      files.map(async (file) => {
        const content: unknown = parse(await readFile(join(root, "examples/gitops", file), "utf8"));
        const named: Record<string, unknown[]> = Array.isArray(content)
          ? { policies: content }
          : { ...Object(content) };
        const { policies = [], reports = [] } = named;
        return [...policies, ...reports] as { query?: string; platform?: string }[];
      }),
    );
    const forLinux = asked
      .flat()
      .filter(({ query, platform = "linux" }) => query !== undefined && platform.includes("linux"));
    expect(forLinux.length).toBeGreaterThan(4);
    for (const { query } of forLinux) await rowsOf(query!);
  });
});

/** No tables of osquery. */
const OF_MANAGED_AGENTS = ["apk_packages", "bitlocker_key_protectors", "orbit_info", "pacman_packages"];

describe("every table", () => {
  it.each([...tables.keys()])("%s has the columns that it declares", async (name) => {
    const [row] = await rowsOf(`SELECT * FROM ${name} LIMIT 1`);
    if (row !== undefined) expect(Object.keys(row)).toEqual(Object.keys(tables.get(name)!.columns));
    expect(await rowsOf(`SELECT 1 FROM osquery_registry WHERE registry = 'table' AND name = '${name}'`)).toHaveLength(
      1,
    );
  });

  it("has the columns that osquery documents for it, on any platform", async () => {
    // From https://osquery.io/schema, without hidden columns.
    const documented = JSON.parse(await readFile(join(root, "test/fixtures/osquery-columns.json"), "utf8"));
    const own = new Map((["linux", "darwin", "win32"] as const).flatMap((one) => [...tablesFor(one)]));
    expect([...own.keys()].filter((name) => !OF_MANAGED_AGENTS.includes(name)).sort()).toEqual(
      Object.keys(documented).sort(),
    );
    const missing = [...own].flatMap(([name, { columns }]) =>
      ((documented[name] as string | undefined) ?? "")
        .split(" ")
        .filter((column) => column !== "" && !(column in columns))
        .map((column) => `${name}.${column}`),
    );
    expect(missing).toEqual([]);
  });

  it("has what is described in the documentation", async () => {
    const byPlatform = new Map((["linux", "darwin", "win32"] as const).map((one) => [one, tablesFor(one)]));
    const names = [...new Set([...byPlatform.values()].flatMap((one) => [...one.keys()]))].sort();
    const labels = { linux: "Linux", darwin: "macOS", win32: "Windows" };
    const lines = names.map((name) => {
      const on = [...byPlatform].filter(([, one]) => one.has(name));
      const { columns, findsBy } = on[0]![1].get(name)!;
      const where = findsBy === undefined ? "" : ` Found by ${findsBy.map((one) => `\`${one}\``).join(" or ")}.`;
      return `| \`${name}\` | ${on.map(([one]) => labels[one]).join(", ")} | ${Object.keys(columns).join(", ")}.${where} |`;
    });
    await expect(
      `# Tables of the agent

Made by \`npx vitest run test/agent/queries.test.ts --update\`. Names, columns and values are those of osquery;
\`orbit_info\` describes the agent itself, and \`bitlocker_key_protectors\` and \`pacman_packages\` are tables of other managed agents, too. \`apk_packages\` is its own. Any other table is answered with \`no such table\`. How queries are answered is
described in [agent.md](agent.md#queries).

| Table | Platforms | Columns |
|---|---|---|
${lines.join("\n")}
`,
    ).toMatchFileSnapshot("../../docs/agent-tables.md");
  });

  it("of devices has the columns that other agents report", () => {
    const shared = Object.entries(DEVICE_TABLES).filter(([name]) => tables.has(name));
    expect(shared.length).toBeGreaterThan(0);
    for (const [name, { columns }] of shared)
      expect(
        columns.filter((column) => !(column in tables.get(name)!.columns)),
        name,
      ).toEqual([]);
  });
});

describe("SQL", () => {
  it("fails on an unknown table and bad syntax as osquery does", async () => {
    expect(await session.answer("SELECT * FROM Nowhere")).toEqual({
      status: 1,
      message: "no such table: Nowhere",
      rows: [],
    });
    expect(await session.answer("SELEC")).toMatchObject({ status: 1, message: 'near "SELEC": syntax error' });
    expect(await session.answer("SELECT nobody FROM uptime")).toMatchObject({ message: "no such column: nobody" });
  });

  it("returns every value as a text", async () => {
    expect(await rowsOf("SELECT 1 AS i, 9007199254740993 AS big, 2.0 AS r, 0.5 AS f, NULL AS n, 'é' AS t")).toEqual([
      { i: "1", big: "9007199254740993", r: "2.0", f: "0.5", n: "", t: "é" },
    ]);
  });

  it("has osquery's functions", async () => {
    expect(
      await rowsOf(
        "SELECT version_compare('1.10', '1.9') > 0 AS v, regex_match('abc12', '([0-9]+)', 1) AS m, split('a.b-c', '.-', 2) AS s, " +
          "sha256('') AS h, inet_aton('1.2.3.4') = 16909060 AS i, to_base64('a') AS b, regex_split('a1b', '[0-9]', 1) AS r, md5(NULL) AS n",
      ),
    ).toEqual([
      {
        v: "1",
        m: "12",
        s: "c",
        h: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        i: "1",
        b: "YQ==",
        r: "b",
        n: "",
      },
    ]);
  });

  it("names tables in any letter case, in joins, views and subqueries", async () => {
    expect(await rowsOf("SELECT (SELECT COUNT(*) FROM UPTIME) AS n FROM Osquery_Info CROSS JOIN os_version")).toEqual([
      { n: "1" },
    ]);
    expect(
      await rowsOf("WITH u AS (SELECT * FROM main.uptime) SELECT COUNT(*) AS n FROM u CROSS JOIN osquery_info"),
    ).toEqual([{ n: "1" }]);
  });

  it("cannot reach files", async () => {
    const file = join(folder, "made.db");
    await session.answer(`ATTACH '${file}' AS x; CREATE TABLE x.t (a)`);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("files", () => {
  beforeEach(async () => {
    await mkdir(join(folder, "a/b"), { recursive: true });
    await writeFile(join(folder, "a/one.txt"), "abc");
    await writeFile(join(folder, "a/b/two.txt"), "");
    await symlink("one.txt", join(folder, "a/link"));
  });

  const paths = async (where: string) =>
    (await rowsOf(`SELECT path FROM file WHERE ${where} ORDER BY path`)).map(({ path }) => path!.slice(folder.length));

  it("are found by path, folder and patterns", async () => {
    expect(await paths(`path = '${folder}/a/one.txt'`)).toEqual(["/a/one.txt"]);
    expect(await paths(`path LIKE '${folder}/a/%'`)).toEqual(["/a/b", "/a/link", "/a/one.txt"]);
    expect(await paths(`path LIKE '${folder}/%%'`)).toEqual(["/a", "/a/b", "/a/b/two.txt", "/a/link", "/a/one.txt"]);
    expect(await paths(`path LIKE '${folder}/%/b/%.txt'`)).toEqual(["/a/b/two.txt"]);
    expect(await paths(`directory = '${folder}/a/b/'`)).toEqual(["/a/b/two.txt"]);
    expect(await paths(`file.path IN ('${folder}/a/one.txt', '${folder}/none')`)).toEqual(["/a/one.txt"]);
    expect(await paths("1")).toEqual([]);
  });

  it("have their attributes, and hashes", async () => {
    expect(
      await rowsOf(`SELECT type, size, symlink, filename FROM file WHERE path LIKE '${folder}/a/%' ORDER BY path`),
    ).toEqual([
      { type: "directory", size: expect.any(String), symlink: "0", filename: "b" },
      { type: "link", size: "7", symlink: "1", filename: "link" },
      { type: "regular", size: "3", symlink: "0", filename: "one.txt" },
    ]);
    const joined = `SELECT sha256 FROM file JOIN hash USING (path) WHERE file.path = '${folder}/a/one.txt'`;
    expect(await rowsOf(joined)).toEqual([
      { sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    ]);
  });

  it.skipIf(process.platform !== "linux")("that are pipes, links or devices are not opened for hashes", async () => {
    execFileSync("mkfifo", [join(folder, "a/pipe")]);
    expect(await rowsOf(`SELECT path FROM hash WHERE path LIKE '${folder}/a/%'`)).toEqual([
      { path: `${folder}/a/one.txt` },
    ]);
    expect(await rowsOf("SELECT path FROM hash WHERE path IN ('/dev/zero', '/proc/kcore', '/dev/stdin')")).toEqual([]);
    expect(await rowsOf(`SELECT type FROM file WHERE path = '${folder}/a/pipe'`)).toEqual([{ type: "fifo" }]);
  });

  it("of another query are not seen by the next", async () => {
    expect(await paths(`path = '${folder}/a'`)).toEqual(["/a"]);
    expect(await paths(`path = '${folder}/a/b'`)).toEqual(["/a/b"]);
  });
});

describe("settings of the system", () => {
  it("are read from a fixed list of files, whatever the query names", async () => {
    const secret = join(folder, "secrets.conf");
    await writeFile(secret, "password = very-secret\n");
    for (const where of [
      `path = '${secret}'`,
      "path = '/proc/1/environ'",
      `path = '/proc/${process.pid}/environ'`,
      "path = '/dev/stdin'",
      "path IN ('/etc/shadow', '/etc/passwd', '/etc/gshadow', '/root/.ssh/id_ed25519')",
      "path LIKE '/etc/ssh/ssh_host%'",
      `path = '/etc/ssh/../..${secret}'`,
      "path LIKE '/root/%%'",
      `path LIKE '${folder}/%%'`,
    ])
      expect(await rowsOf(`SELECT * FROM augeas WHERE ${where}`), where).toEqual([]);
    const all = await rowsOf("SELECT DISTINCT path FROM augeas WHERE path LIKE '/%%'");
    expect(all.map(({ path }) => path)).toContain("/etc/os-release");
    expect(all.filter(({ path }) => !/^\/(etc|usr\/lib|run\/sysctl\.d)\/[\w./-]+$/.test(path!))).toEqual([]);
  });

  it("are chosen by path and label", async () => {
    const [id] = await rowsOf("SELECT * FROM augeas WHERE path = '/etc/os-release' AND label = 'ID'");
    const { path, node, label } = id!;
    expect([path, node, label]).toEqual(["/etc/os-release", "/files/etc/os-release/ID", "ID"]);
    expect(settingRows("# x\nPermitRootLogin no\nPort=22\n\nMatch User a b\n", "/f")).toEqual([
      { node: "/files/f/PermitRootLogin", value: "no", label: "PermitRootLogin", path: "/f" },
      { node: "/files/f/Port", value: "22", label: "Port", path: "/f" },
      { node: "/files/f/Match", value: "User a b", label: "Match", path: "/f" },
    ]);
  });
});

describe("what the system writes", () => {
  it("is read from dpkg's list, with continued lines", () => {
    const status =
      "Package: a\nStatus: install ok installed\nInstalled-Size: 2\nVersion: 1:2-3.1\nDescription: x\n more\n\nPackage: b\nVersion: 4\n";
    expect(debPackages(status)).toEqual([
      expect.objectContaining({
        name: "a",
        version: "1:2-3.1",
        revision: "3.1",
        size: 2048,
        status: "install ok installed",
      }),
      expect.objectContaining({ name: "b", version: "4", revision: "" }),
    ]);
  });

  it("is read from the lists of apk and pacman", () => {
    const list =
      "C:Q1abc=\nP:libssl3\nV:3.3.1-r0\nA:x86_64\nS:1\nI:589824\nT:SSL library\nU:https://x\nL:Apache-2.0\no:openssl\nm:A <a@b>\nt:1717000000\nF:lib\nR:libssl.so.3\na:0:0:755\nZ:Q1x=\n\nP:musl\nV:1.2.5-r0\n\n";
    expect(apkPackages(list)).toEqual([
      {
        name: "libssl3",
        version: "3.3.1-r0",
        arch: "x86_64",
        origin: "openssl",
        description: "SSL library",
        url: "https://x",
        license: "Apache-2.0",
        maintainer: "A <a@b>",
        size: 589_824,
        build_time: 1_717_000_000,
      },
      expect.objectContaining({ name: "musl", version: "1.2.5-r0", origin: "" }),
    ]);
    const description =
      "%NAME%\nopenssl\n\n%VERSION%\n1:3.3.1-1\n\n%DESC%\nThe toolkit\n\n%ARCH%\nx86_64\n\n%SIZE%\n100\n\n%LICENSE%\nApache-2.0\nMIT\n\n%INSTALLDATE%\n1717000000\n";
    expect(pacmanPackage(description)).toEqual({
      name: "openssl",
      version: "1:3.3.1-1",
      arch: "x86_64",
      description: "The toolkit",
      url: "",
      license: "Apache-2.0, MIT",
      packager: "",
      size: 100,
      install_time: 1_717_000_000,
    });
    expect(pacmanPackage("")).toBeNull();
  });

  it("is read from lists of scheduled commands", () => {
    expect(crontabRows("# x\nPATH=/bin\n*/5 1 * * 1-5 do it\n@daily other\n", "/f")).toEqual([
      {
        event: "",
        minute: "*/5",
        hour: "1",
        day_of_month: "*",
        month: "*",
        day_of_week: "1-5",
        command: "do it",
        path: "/f",
      },
      expect.objectContaining({ event: "@daily", command: "other" }),
    ]);
  });

  it("is read from numbers of the kernel, and files of assignments", () => {
    expect(ipv4("0100007F")).toBe("127.0.0.1");
    expect(ipv6("00000000000000000000000000000000")).toBe("::");
    expect(ipv6("00000000000000000000000000000001")).toBe("::1");
    expect(ipv6("fd000000000000000000000000000001")).toBe("fd00::1");
    expect(ipv6("fe800000000000000000000000000000")).toBe("fe80::");
    expect(ipv6("20010db8000000010000000000000001")).toBe("2001:db8:0:1::1");
    expect([...assignments("A=1\nB=\"two words\"\n#C=3\nD='x'\n")]).toEqual([
      ["A", "1"],
      ["B", "two words"],
      ["D", "x"],
    ]);
  });
});
