// Policies that install a package on hosts without it: their queries run on tables as hosts have them.
import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import initSqlJs from "sql.js";
import { describe, expect, it } from "vitest";
import type { Package } from "../../src/api/software/packages.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";

type Tables = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;

const columns: Readonly<Record<string, readonly string[]>> = {
  apps: ["name", "bundle_identifier"],
  package_receipts: ["package_id", "version"],
  programs: ["name", "identifying_number", "upgrade_code"],
  deb_packages: ["name", "status"],
  rpm_packages: ["name"],
};

/** Whether a host with these rows passes. */
async function passes(query: string, rows: Tables): Promise<boolean> {
  const { Database } = await initSqlJs();
  const database = new Database();
  try {
    for (const [table, names] of Object.entries(columns)) {
      database.run(`CREATE TABLE ${table} (${names.join(", ")})`);
      for (const row of rows[table] ?? [])
        database.run(
          `INSERT INTO ${table} VALUES (${names.map(() => "?").join(", ")})`,
          names.map((name) => row[name] ?? ""),
        );
    }
    return (database.exec(query)[0]?.values.length ?? 0) > 0;
  } finally {
    database.close();
  }
}

/** A package of one component, which has this PackageInfo. */
function component(info: string): Buffer<ArrayBuffer> {
  const data = deflateSync(info);
  const toc = `<?xml version="1.0" encoding="UTF-8"?><xar><toc><file id="1"><name>PackageInfo</name><type>file</type><data><offset>0</offset><size>${Buffer.byteLength(info)}</size><length>${data.length}</length><encoding style="application/x-gzip"/></data></file></toc></xar>`;
  const packed = deflateSync(toc);
  const header = Buffer.alloc(28);
  header.write("xar!", 0, "latin1");
  header.writeUInt16BE(28, 4);
  header.writeUInt16BE(1, 6);
  header.writeBigUInt64BE(BigInt(packed.length), 8);
  header.writeBigUInt64BE(BigInt(Buffer.byteLength(toc)), 16);
  return Buffer.concat([header, packed, data]);
}

async function upload(t: TestApp, teamId: number, content: Buffer<ArrayBuffer>, name: string): Promise<Package> {
  const body = new FormData();
  body.set("team_id", String(teamId));
  body.set("automatic_install", "true");
  body.set("software", new File([content], name));
  const res = await t.post("/software/package", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { software_package: Package }).software_package;
}

async function queryOf(t: TestApp, teamId: number, { automatic_install_policies }: Package): Promise<string> {
  const id = automatic_install_policies![0]!.id;
  return ((await (await t.get(`/teams/${teamId}/policies/${id}`)).json()) as { policy: { query: string } }).policy
    .query;
}

const fixture = async (name: string) => Buffer.from(await readFile(`test/fixtures/packages/${name}`));

describe.each(rulesEngines)("the policy that installs a package by itself on %s", (engine) => {
  it("looks for the receipt of a .pkg that installs no app", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const info = '<pkg-info identifier="com.example.tool" version="1.2" install-location="/"><payload/></pkg-info>';
    const query = await queryOf(t, team.id, await upload(t, team.id, component(info), "tool.pkg"));
    expect(await passes(query, {})).toBe(false);
    expect(await passes(query, { package_receipts: [{ package_id: "com.example.other", version: "1" }] })).toBe(false);
    expect(await passes(query, { package_receipts: [{ package_id: "com.example.tool", version: "1.2" }] })).toBe(true);
  });

  it("looks for the app of a .pkg that installs one: a receipt stays when users delete the app", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const made = await upload(t, team.id, await fixture("hello.pkg"), "hello.pkg");
    const query = await queryOf(t, team.id, made);
    const receipt = { package_receipts: [{ package_id: "com.example.hello" }] };
    expect(await passes(query, receipt)).toBe(false);
    expect(await passes(query, { apps: [{ bundle_identifier: "com.example.hello" }] })).toBe(true);

    // Packages of the catalogue do not say whether there is an app.
    await t.store.softwareInstallers.update({ where: eq("title_id", made.title_id), set: { installs_app: null } });
    await t.post(`/teams/${team.id}/policies/delete`, { ids: [made.automatic_install_policies![0]!.id] });
    const body = new FormData();
    body.set("team_id", String(team.id));
    body.set("automatic_install", "true");
    const res = await t.patch(`/software/titles/${made.title_id}/package`, body);
    const { software_installer } = (await res.json()) as { software_installer: Package };
    const either = await queryOf(t, team.id, software_installer);
    expect([await passes(either, {}), await passes(either, receipt)]).toEqual([false, true]);
    expect(await passes(either, { apps: [{ bundle_identifier: "com.example.hello" }] })).toBe(true);
  });

  it("leaves hosts with another package system alone, and counts packages that are held", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const deb = await queryOf(t, team.id, await upload(t, team.id, await fixture("hello-xz.deb"), "hello.deb"));
    const dpkg = (status: string, name = "svc-hello") => ({ deb_packages: [{ name, status }] });
    expect(await passes(deb, {}), "no .deb can be installed").toBe(true);
    expect(await passes(deb, dpkg("install ok installed", "other"))).toBe(false);
    expect(await passes(deb, dpkg("install ok installed"))).toBe(true);
    expect(await passes(deb, dpkg("hold ok installed"))).toBe(true);
    expect(await passes(deb, dpkg("deinstall ok config-files"))).toBe(false);
    const rpm = await queryOf(t, team.id, await upload(t, team.id, await fixture("hello.rpm"), "hello.rpm"));
    expect(await passes(rpm, {})).toBe(true);
    expect(await passes(rpm, { rpm_packages: [{ name: "other" }] })).toBe(false);
    expect(await passes(rpm, { rpm_packages: [{ name: "svc-hello" }] })).toBe(true);
  });

  it("looks for any version of the product of an .msi", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const query = await queryOf(t, team.id, await upload(t, team.id, await fixture("hello.msi"), "hello.msi"));
    expect(await passes(query, { programs: [{ name: "Other", upgrade_code: "{X}" }] })).toBe(false);
    const upgrade_code = "{AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE}";
    expect(await passes(query, { programs: [{ name: "Svc Hello 3", upgrade_code }] })).toBe(true);
  });
});
