// Versions are ordered in selectors, by the rules of the package system that they come from.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { softwareVersion } from "../../src/server/inventory/host-list/selector/versions.ts";
import { compileWhere } from "../../src/server/inventory/host-list/selector/where.ts";
import { layoutsByName } from "../../src/server/platform/store/postgres/collections.ts";
import { Layout } from "../../src/server/platform/store/postgres/layout.ts";
import { Conditions } from "../../src/server/platform/store/postgres/predicate.ts";
import { compile, sql } from "../../src/server/platform/store/postgres/sql.ts";
import { and, eq, isNull, type Predicate } from "../../src/server/platform/store/query.ts";
import { software } from "../../src/server/software/software/tables.ts";
import { enroll, enrollment, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines, testCipher } from "../support/engines.ts";
import { makeHost, makeInventory, makeSoftware } from "../support/make.ts";

const listed = async (t: TestApp, where: string): Promise<string> => {
  const res = await t.get(`/hosts?where=${encodeURIComponent(where)}`);
  expect(res.status, `${where}: ${await res.clone().text()}`).toBe(200);
  const { hosts } = (await res.json()) as { hosts: { hostname: string }[] };
  return hosts
    .map(({ hostname }) => hostname)
    .sort()
    .join(" ");
};

/** Hosts by name, each with one version of OpenSSL. */
const openssl: Readonly<Record<string, readonly [source: string, version: string]>> = {
  apk: ["apk_packages", "3.0.20_rc1-r2"],
  app: ["apps", "3.0.20 (build 7)"],
  arch: ["pacman_packages", "3.0.20-1"],
  deb: ["deb_packages", "3.0.2-0ubuntu1.10"],
  "deb-epoch": ["deb_packages", "1:3.0.2-1"],
  "deb-fixed": ["deb_packages", "3.0.20-1~deb12u1"],
  npm: ["npm_packages", "3.0.20-beta.2"],
  pip: ["python_packages", "3.0.20.post1"],
  rpm: ["rpm_packages", "3.0.20"],
  unknown: ["apps", ""],
};

describe.each(bothEngines)("versions in selectors on %s", (engine) => {
  let t: TestApp;
  beforeAll(async () => {
    t = await startApp({ engine, shared: true });
    for (const [hostname, [source, version]] of Object.entries(openssl)) {
      const { id } = await makeHost(t, { hostname });
      const other = await makeSoftware(t, `zlib of ${hostname}`, "99.0", source);
      await makeInventory(t, id, [await makeSoftware(t, "openssl", version, source), other]);
    }
    await makeHost(t, { hostname: "bare" });
  });
  afterAll(() => t.close());

  it("are ordered by the rules of their package system", async () => {
    const cases: [string, string][] = [
      ["version < 3.0.20", "apk deb npm"],
      ["version <= 3.0.20", "apk app arch deb npm rpm"],
      ["version > 3.0.20", "deb-epoch deb-fixed pip"],
      ["version >= 3.0.20", "app arch deb-epoch deb-fixed pip rpm"],
      ["version >= 3.0.3 and version < 3.0.20", "apk npm"],
      ["version < '3.0.20-1~deb12u1' and source = deb_packages", "deb"],
      ["version < '3.0.20-1~deb12u2' and source = deb_packages", "deb deb-fixed"],
      ["version > 1:3 and source = deb_packages", "deb-epoch"],
      ["not version < 3.0.20", "app arch deb-epoch deb-fixed pip rpm unknown"],
      ["version < 99999999999999999999999999999999", "apk app arch deb deb-fixed npm pip rpm"],
    ];
    for (const [condition, hosts] of cases)
      expect(await listed(t, `software(name = openssl and ${condition})`), condition).toBe(hosts);
    expect(await listed(t, "not software(name = openssl and version < 3.0.20)")).toBe(
      "app arch bare deb-epoch deb-fixed pip rpm unknown",
    );
    expect(await listed(t, "software.version < 3")).toBe("");
    expect(await listed(t, "software.name = openssl and software.version >= 99")).toBe(
      Object.keys(openssl).sort().join(" "),
    );
  });

  it("are ordered in labels, counts, live queries and explanations too", async () => {
    const where = "software(name = openssl and version < 3.0.20)";
    const made = await t.post("/labels", { name: `Old OpenSSL ${engine}`, criteria: { where } });
    expect(made.status).toBe(200);
    const { label } = (await made.json()) as { label: { id: number; count: number } };
    await runJob(t.services, "label_criteria");
    const members = await t.store.labelMembers.pick(["host_id"], { where: eq("label_id", label.id) });
    expect(members).toHaveLength(3);
    expect(await (await t.get(`/hosts/count?where=${encodeURIComponent(where)}`)).json()).toEqual({ count: 3 });
    const [deb] = await t.store.hosts.list({ where: eq("hostname", "deb") });
    const explained = await t.get(`/hosts/${deb!.id}/explain?where=${encodeURIComponent(where)}`);
    expect(await explained.json()).toMatchObject({ matches: true });
  });

  it("get the keys that a migration has cleared by a job", async () => {
    await t.store.software.update({ where: eq("name", "openssl"), set: { version_key: null } });
    const [system] = await t.store.osVersions.insertMany([
      { name: "Ubuntu", version: "20.04.6 LTS", platform: "ubuntu" },
    ]);
    await makeHost(t, { hostname: "earlier", os_version_id: system!.id });
    expect(await listed(t, "software(name = openssl and version < 3.0.20)")).toBe("");
    await runJob(t.services, "version_keys");
    expect(await t.store.software.count(isNull("version_key"))).toBe(0);
    expect(await listed(t, "software(name = openssl and version < 3.0.20)")).toBe("apk deb npm");
    expect(await listed(t, "os.version <= 20.04.6")).toBe("earlier");
  });

  it("of agents' reports have keys", async () => {
    const app = await startApp({ engine });
    await makeSecret(app);
    const send = throughApp(app);
    const node_key = await enroll(send, { ...enrollment(), host_identifier: "reporter" });
    await app.store.hosts.update({
      where: eq("identifier", "reporter"),
      set: { platform: "rhel", hostname: "reporter" },
    });
    const row = { name: "openssl", version: "3.0.7", release: "24.el9", arch: "x86_64", vendor: "R", source: "" };
    const body = {
      node_key,
      queries: {
        svc_detail_query_os_version: [
          {
            name: "Red Hat Enterprise Linux",
            version: "9.3",
            major: "9",
            minor: "3",
            patch: "0",
            platform: "rhel",
            platform_like: "rhel",
          },
        ],
        svc_detail_query_software_rpm: [row],
      },
      statuses: {},
      messages: {},
    };
    expect((await send("/api/v1/qengine/distributed/write", body)).status).toBe(200);
    await expect.poll(() => app.store.software.count()).toBe(1);
    const [host] = await app.store.hosts.list({});
    const counts = async (where: string) =>
      ((await (await app.get(`/hosts/count?where=${encodeURIComponent(where)}`)).json()) as { count: number }).count;
    await expect.poll(() => counts(`id = ${host!.id} and software(version < 3.0.7-25.el9)`)).toBe(1);
    expect(await counts("software(name = openssl and version < 3.0.7-24.el9)")).toBe(0);
    expect(await counts("software(name = openssl and version >= 3.0.7)")).toBe(1);
    expect(await counts("os.version < 9.4 and os.version > 9.2.9")).toBe(1);
    expect(await counts('os_version < "Red Hat Enterprise Linux 9.10"')).toBe(1);
  });
});

describe.each(rulesEngines)("versions of systems on %s", (engine) => {
  it("are ordered, by their name and without it", async () => {
    const t = await startApp({ engine });
    const systems = [
      ["mac", "macOS", "14.5", "darwin"],
      ["old-mac", "macOS", "13.10.1", "darwin"],
      ["tux", "Ubuntu", "22.04.3 LTS", "ubuntu"],
      ["win", "Microsoft Windows 11 Enterprise", "10.0.22631.3007", "windows"],
    ] as const;
    for (const [hostname, name, version, platform] of systems) {
      const system = await t.store.osVersions.insert({ name, version, platform });
      await makeHost(t, { hostname, os_version_id: system.id, os_version: `${name} ${version}`, platform });
    }
    await runJob(t.services, "version_keys");
    const cases: [string, string][] = [
      ["os.version < 14", "old-mac win"],
      ["os.name = macOS and os.version < 14.5", "old-mac"],
      ["os.version <= 22.04.3 and os.version >= '22.04.3 LTS'", "tux"],
      ['os_version < "macOS 14.5"', "old-mac"],
      ['os_version <= "macos 14.5"', "mac old-mac"],
      ['os_version >= "Ubuntu 22.04 LTS"', "tux"],
      ['os_version < "Windows 11 10.0.22631.3100"', "win"],
      ["os_version > 14.4", "mac tux"],
      ['os_version = "macOS 14.5"', "mac"],
    ];
    for (const [where, hosts] of cases) expect(await listed(t, where), where).toBe(hosts);
  });

  it("and other fields refuse what cannot be ordered, with its place", async () => {
    const t = await startApp({ engine });
    const cases: [string, string][] = [
      ["software(name < 3)", "column 10: name is text: it takes =, !=, ~, in and not in, not <"],
      ["online and hardware_model >= 3", "column 12: hardware_model is text: it takes =, !=, ~, in and not in, not >="],
      ["software(version < latest)", 'column 20: "latest" is not a version such as 3.0.20'],
      ["software.version > none", 'column 20: "none" is not a version such as 3.0.20'],
      ['os.version <= ""', 'column 15: "" is not a version such as 3.0.20'],
      ["os_version < Sonoma", 'column 14: "Sonoma" is not a version such as 3.0.20'],
    ];
    for (const [where, reason] of cases) {
      const res = await t.get(`/hosts?where=${encodeURIComponent(where)}`);
      expect([res.status, await res.json()], where).toMatchObject([
        400,
        { errors: [{ name: "where", reason: `Invalid where: ${reason}` }] },
      ]);
    }
  });
});

it("finds versions by an index of Postgres", async () => {
  const t = await startApp({ engine: "postgres" });
  const title = await t.store.softwareTitles.insert({ name: "many", source: "deb_packages", key: "many" });
  const client = new pg.Client({ connectionString: t.databaseUrl! });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO software (title_id, name, name_search, version, version_key, source, extension_for, extension_id, bundle_identifier, release, vendor, arch, upgrade_code, source_package, generated_cpe, usual_path, is_matched, key, is_vulnerable, cvss_score, epss_probability, cisa_known_exploit, cve_published)
       SELECT $1, 'package-' || n % 2000, 'package-' || n % 2000, n::text, 'd0#' || n, 'deb_packages', '', '', '', '', '', '', '', '', '', '', true, n::text, false, -1, -1, false, '' FROM generate_series(1, 20000) AS n`,
      [title.id],
    );
    await client.query("ANALYZE software");
    const planOf = async (where: Predicate): Promise<string> => {
      const layout = new Layout(software, testCipher);
      const conditions = new Conditions(layoutsByName({ software: layout })).conditionOf(where, layout, "t0");
      const { text, values } = compile(sql`EXPLAIN SELECT t0.id FROM software AS t0 WHERE ${conditions}`);
      const { rows } = await client.query<{ "QUERY PLAN": string }>(text, values as unknown[]);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    const older = softwareVersion("<", { text: "3.0.20", quoted: false, at: 0 });
    expect(await planOf(and(eq("name", "package-7"), older))).toMatch(/software_name_idx|software_version_key_idx/);
    const one = softwareVersion(">", { text: "9999:1", quoted: false, at: 0 });
    expect(await planOf(one)).toContain("software_version_key_idx");
    // The whole selector, so that its text and the predicate above do not differ.
    const whole = compileWhere("software(name = package-7 and version < 3.0.20)", t.services);
    expect(JSON.stringify(whole)).toContain(JSON.stringify(older.op === "or" ? older.parts[0] : older));
  } finally {
    await client.end();
  }
});
