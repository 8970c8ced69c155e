// Patch policies: hosts pass if they have the maintained app's version, or do not have the app.

import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { Session } from "../../src/agent/queries/sqlite.ts";
import type { Table, TableRow } from "../../src/agent/tables/table.ts";
import type { Policy } from "../../src/api/checks/policies.ts";
import type { Package } from "../../src/api/software/packages.ts";
import { patchQuery } from "../../src/server/checks/policies/maintained-apps.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { closedQuery } from "../../src/server/software/catalogue/patching.ts";
import { enroll, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowLocal, newDir, startFake } from "../support/ca-fakes.ts";
import { catalogueVersion, writeCatalogue } from "../support/catalogue.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";
import { ManagedAgent } from "../support/managed.ts";

const SLUG = "one/darwin";

describe.each(bothEngines)("patch policies on %s", (engine) => {
  let t: TestApp;
  let team: number;
  let title: number;
  let publish: (...versions: string[]) => void;
  beforeEach(async () => {
    const dir = newDir();
    const server = await startFake(({ url }) => ({ status: 200, body: `installer ${url.pathname.split("/")[1]}` }));
    publish = (...versions) =>
      writeCatalogue(dir, [
        {
          slug: SLUG,
          name: "One",
          versions: versions.map((version) =>
            catalogueVersion({
              version,
              installer_url: `${server.url}/${version}/one.pkg`,
              sha256: createHash("sha256").update(`installer ${version}`).digest("hex"),
            }),
          ),
        },
      ]);
    publish("1.0");
    t = await startApp({
      engine,
      settings: { catalogue_url: dir, outbound_allow: allowLocal.outbound_allow, max_jitter_percent: 0 },
    });
    await runJob(t.services, "catalogue");
    team = (await makeTeam(t)).id;
    const app = (await t.store.catalogueApps.first({ where: eq("slug", SLUG) }))!;
    const added = await t.post("/software/svc_maintained_apps", { svc_maintained_app_id: app.id, team_id: team });
    title = ((await added.json()) as { software_title_id: number }).software_title_id;
  });

  const create = (more: object, teamId = team) =>
    t.post(`/teams/${teamId}/policies`, {
      name: "One is current",
      type: "patch",
      svc_maintained_app_slug: SLUG,
      ...more,
    });
  const created = async (more: object = {}): Promise<Policy> => {
    const reply = await create(more);
    expect(reply.status, await reply.clone().text()).toBe(200);
    return ((await reply.json()) as { policy: Policy }).policy;
  };
  const change = (id: number, more: object) => t.patch(`/teams/${team}/policies/${id}`, more);
  const reasonOf = async (reply: Response) => {
    const [error] = ((await reply.json()) as { errors: { name: string; reason: string }[] }).errors;
    return [reply.status, error!.name, error!.reason.replace("policy payload verification: ", "")];
  };
  const packageOf = async (): Promise<Package> => {
    const reply = await t.get(`/software/titles/${title}?team_id=${team}`);
    return ((await reply.json()) as { software_title: { software_package: Package } }).software_title.software_package;
  };
  const queryFor = (version: string) =>
    `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM apps WHERE bundle_identifier = 'org.example.${SLUG}' ` +
    `AND version_compare(bundle_short_version, '${version}') < 0);`;

  it("have the query and the platform of their app, and follow its version", async () => {
    const policy = await created();
    expect(policy).toMatchObject({
      type: "patch",
      svc_maintained_app_slug: SLUG,
      query: queryFor("1.0"),
      platform: "darwin",
      patch_when_closed: false,
      notify_before_patching: false,
      continuous_automations_enabled: false,
    });
    expect(policy.install_software).toBeUndefined();
    publish("1.1", "1.0");
    await runJob(t.services, "catalogue");
    await runJob(t.services, "catalogue_updates");
    const stored = (await t.store.policies.get(policy.id))!;
    expect(stored.query).toBe(queryFor("1.1"));
    // Pinned to the older version.
    const pinned = await t.patch(`/software/titles/${title}/package`, { team_id: team, version: "1.0" });
    expect(pinned.status).toBe(200);
    const after = (await t.store.policies.get(policy.id))!;
    expect(after.query).toBe(queryFor("1.0"));
    expect(after.result_id, "earlier results are void").toBeGreaterThan(stored.result_id);
  });

  it("are refused with what they cannot have, and keep their app", async () => {
    const refusals: [object, string, string][] = [
      [{ svc_maintained_app_slug: undefined }, "svc_maintained_app_slug", "is required with the type patch"],
      [{ svc_maintained_app_slug: "two/darwin" }, "svc_maintained_app_slug", "the catalogue has no maintained app"],
      [{ query: "SELECT 1" }, "query", "query cannot be given with the type patch"],
      [{ platform: "windows" }, "platform", "platform cannot be given with the type patch"],
      [{ software_title_id: title + 1 }, "software_title_id", "software title"],
      [
        { patch_when_closed: true, continuous_automations_enabled: false },
        "continuous_automations_enabled",
        "continuous_automations_enabled cannot be false with patch_when_closed",
      ],
    ];
    for (const [more, field, reason] of refusals)
      expect(await reasonOf(await create(more))).toEqual([400, field, expect.stringContaining(reason)]);
    const other = (await makeTeam(t, "Other")).id;
    expect(await reasonOf(await create({}, other))).toEqual([
      400,
      "svc_maintained_app_slug",
      `the team does not offer the maintained app ${SLUG}`,
    ]);
    const global = { name: "G", type: "patch", svc_maintained_app_slug: SLUG };
    expect(await reasonOf(await t.post("/global/policies", global))).toEqual([
      400,
      "type",
      "only policies of a team can be of the type patch",
    ]);
    for (const more of [{ patch_when_closed: true }, { notify_before_patching: true }, { install_software: true }])
      expect(
        await reasonOf(await t.post(`/teams/${team}/policies`, { name: "D", query: "SELECT 1", ...more })),
      ).toEqual([400, Object.keys(more)[0], expect.stringContaining("is only for policies of the type patch")]);

    const policy = await created();
    expect(await reasonOf(await create({ name: "Again" }))).toEqual([
      400,
      "svc_maintained_app_slug",
      `the policy "One is current" of the team patches ${SLUG} already`,
    ]);
    expect((await t.delete(`/software/titles/${title}/available_for_install?team_id=${team}`)).status).toBe(409);
    // A dynamic policy keeps no app.
    expect((await change(policy.id, { type: "dynamic", query: "SELECT 2" })).status).toBe(200);
    expect((await t.delete(`/software/titles/${title}/available_for_install?team_id=${team}`)).status).toBe(204);
  });

  it("exclude queries of users before the installation while they wait for the app to be closed", async () => {
    const setQuery = (pre_install_query: string) =>
      t.patch(`/software/titles/${title}/package`, { team_id: team, pre_install_query });
    const policy = await created({ patch_when_closed: true });
    expect(policy).toMatchObject({ patch_when_closed: true, continuous_automations_enabled: true });
    expect(await reasonOf(await change(policy.id, { continuous_automations_enabled: false }))).toMatchObject([
      400,
      "continuous_automations_enabled",
      expect.stringContaining("cannot be false with patch_when_closed"),
    ]);
    expect(await reasonOf(await setQuery("SELECT 1"))).toEqual([
      400,
      "pre_install_query",
      'pre_install_query cannot be used while the policy "One is current" has patch_when_closed',
    ]);
    expect((await change(policy.id, { patch_when_closed: false })).status).toBe(200);
    expect((await setQuery("SELECT 1")).status).toBe(200);
    expect(await reasonOf(await change(policy.id, { patch_when_closed: true }))).toMatchObject([
      400,
      "patch_when_closed",
      expect.stringContaining(`while the app ${SLUG} has a pre_install_query`),
    ]);
  });

  it("are made, changed and deleted with the package, which shows them", async () => {
    const patch = (more: object) => t.patch(`/software/titles/${title}/package`, { team_id: team, ...more });
    expect((await packageOf()).patch_policy).toBeNull();
    expect((await patch({ patch: true })).status).toBe(200);
    const { patch_policy } = await packageOf();
    expect(patch_policy).toEqual({
      id: expect.any(Number),
      name: "[Patch] One (darwin)",
      install_software: true,
      patch_when_closed: true,
      notify_before_patching: false,
    });
    expect((await packageOf()).automatic_install_policies).toEqual([
      { id: patch_policy!.id, name: patch_policy!.name, type: "patch" },
    ]);
    expect((await patch({ notify_before_patching: true, patch_when_closed: false })).status).toBe(200);
    expect((await packageOf()).patch_policy).toMatchObject({ notify_before_patching: true, patch_when_closed: false });
    expect((await patch({ patch: false })).status).toBe(200);
    expect((await packageOf()).patch_policy).toBeNull();
  });

  /** A host with both agents, and how it answers the policy. */
  async function host(policy: Policy) {
    await t.patch(`/teams/${team}/secrets`, { secrets: [{ secret: "team-secret" }] });
    const agent = await new ManagedAgent(t, { platform: "darwin" }).enroll("team-secret");
    const { id, uuid } = await agent.host();
    const send = throughApp(t);
    const node_key = await enroll(send, { enroll_secret: "team-secret", host_identifier: uuid });
    await t.store.hosts.update({ where: eq("id", id), set: { platform: "darwin" } });
    const report = async (rows: object[]) => {
      const name = `svc_policy_query_${policy.id}`;
      const given = { node_key, queries: { [name]: rows }, statuses: { [name]: 0 }, messages: {} };
      expect((await send("/api/v1/qengine/distributed/write", given)).status).toBe(200);
      await runJob(t.services, "policy_actions");
    };
    const installs = async (): Promise<string[]> =>
      (await agent.call("/config")).json.notifications.pending_software_installer_ids ?? [];
    return { id, agent, report, installs };
  }

  it("install the app at each failing answer, only while it is closed", async () => {
    const policy = await created({ install_software: true, patch_when_closed: true });
    expect(policy.install_software).toMatchObject({ software_title_id: title });
    const { id, agent, report, installs } = await host(policy);
    await report([]);
    const [first, ...none] = await installs();
    expect([typeof first, none]).toEqual(["string", []]);
    await report([]);
    expect(await installs(), "nothing is asked for twice").toEqual([first]);
    const { json } = await agent.call("/software_install/details", { install_uuid: first });
    expect(json.pre_install_condition).toContain("JOIN processes");
    const answer = (install_uuid: string, more: object) =>
      agent.call("/software_install/result", { install_uuid, ...more });
    await answer(first!, { pre_install_condition_output: "" });
    const result = (uuid: string) => t.get(`/software/install/${uuid}/results`);
    expect(await (await result(first!)).json()).toMatchObject({
      status: "canceled",
      message: "The app was open, so it was not patched. The policy tries again when the host fails it again.",
    });
    expect((await packageOf()).status).toMatchObject({ failed_install: 0 });
    expect(await t.store.activities.count(eq("type", "installed_software"))).toBe(0);

    await report([]);
    const [second] = await installs();
    expect(second).not.toBe(first);
    await agent.call("/software_install/details", { install_uuid: second });
    await answer(second!, { pre_install_condition_output: "1", install_script_exit_code: 0 });
    const [activity] = await t.store.activities.list({ where: eq("type", "installed_software") });
    expect(activity).toMatchObject({ host_id: id, details: { policy_name: "One is current", status: "installed" } });
    await report([{ "1": "1" }]);
    expect(await installs()).toEqual([]);
  });

  it("notify the user five minutes before, once", async () => {
    const policy = await created({ install_software: true, notify_before_patching: true });
    const { id, agent, report, installs } = await host(policy);
    await report([]);
    expect(await installs()).toEqual([]);
    await runJob(t.services, "policy_actions");
    const text = await agent.runScript(0, "");
    expect(text).toContain("One will be updated to version 1.0 in 5 minutes");
    await runJob(t.services, "policy_actions");
    expect([await installs(), await agent.pending()]).toEqual([[], []]);
    t.clock.advance(5 * 60_000);
    await runJob(t.services, "policy_actions");
    expect(await installs()).toHaveLength(1);
    const [notice, ...more] = await t.store.activities.list({
      where: eq("type", "notified_end_user_before_patching"),
    });
    expect(more).toEqual([]);
    expect(notice).toMatchObject({
      host_id: id,
      svc_initiated: true,
      details: {
        host_id: id,
        software_titles: ["One"],
        policy_ids: [policy.id],
        time_before: 300,
        status: "notified",
        exit_code: 0,
        patch_notification_uuid: expect.any(String),
      },
    });
  });

  it("leave alone a host that passes before the app is installed", async () => {
    const policy = await created({ install_software: true, notify_before_patching: true });
    const { agent, report, installs } = await host(policy);
    await report([]);
    await agent.runScript();
    await report([{ "1": "1" }]);
    t.clock.advance(10 * 60_000);
    await runJob(t.services, "policy_actions");
    expect(await installs()).toEqual([]);
  });
});

describe("what hosts are asked about maintained apps", () => {
  const app = { platform: "darwin", unique_identifier: "org.example.o'ne" } as const;
  const program = { platform: "windows", unique_identifier: "One (x64)" } as const;

  /** Whether a host with these rows returns a row. */
  async function passes(sql: string, rows: Readonly<Record<string, readonly TableRow[]>>): Promise<boolean> {
    const columns = (names: string) => Object.fromEntries(names.split(" ").map((one) => [one, "TEXT" as const]));
    const table = (name: string, names: string): Table => ({
      name,
      platforms: ["linux"],
      columns: columns(names),
      rows: () => rows[name] ?? [],
    });
    const tables = [
      table("apps", "bundle_identifier bundle_short_version path"),
      table("programs", "name version install_location"),
      table("processes", "pid path"),
    ];
    const session = await Session.open(new Map(tables.map((one) => [one.name, one])), {
      hardware: { uuid: "U", serial: "S" },
      os: {},
      flags: {},
    } as unknown as Parameters<typeof Session.open>[1]);
    const { status, message, rows: found } = await session.answer(sql);
    session.close();
    expect([status, message], sql).toEqual([0, ""]);
    return found.length > 0;
  }
  const mac = (bundle_short_version: string, path = "/Applications/One.app") => ({
    bundle_identifier: app.unique_identifier,
    bundle_short_version,
    path,
  });

  it("pass without the app, or with at least the version", async () => {
    const sql = patchQuery(app, "1.10");
    expect(await passes(sql, {})).toBe(true);
    expect(await passes(sql, { apps: [mac("1.10")] })).toBe(true);
    expect(await passes(sql, { apps: [mac("2.0")] })).toBe(true);
    expect(await passes(sql, { apps: [mac("1.9")] })).toBe(false);
    expect(await passes(sql, { apps: [mac("1.10"), mac("1.9", "/Users/a/One.app")] })).toBe(false);
    const ofProgram = patchQuery(program, "3.1");
    expect(await passes(ofProgram, { programs: [{ name: "One (x64)", version: "3.0.9" }] })).toBe(false);
    expect(await passes(ofProgram, { programs: [{ name: "Two", version: "3.0.9" }] })).toBe(true);
  });

  it("count an app as open while a process of its folder runs", async () => {
    const sql = closedQuery(app);
    const running = (path: string) => [{ pid: "1", path }];
    expect(await passes(sql, { apps: [mac("1")] })).toBe(true);
    expect(
      await passes(sql, { apps: [mac("1")], processes: running("/Applications/One.app/Contents/MacOS/One") }),
    ).toBe(false);
    expect(await passes(sql, { apps: [mac("1")], processes: running("/Applications/One.app2/One") })).toBe(true);
    const ofProgram = closedQuery(program);
    const programs = [{ name: "One (x64)", install_location: "C:\\Program Files\\One\\" }];
    expect(await passes(ofProgram, { programs, processes: running("c:\\program files\\one\\one.exe") })).toBe(false);
    expect(await passes(ofProgram, { programs, processes: running("C:\\Program Files\\One2\\two.exe") })).toBe(true);
    const nowhere = [{ name: "One (x64)", install_location: "" }];
    expect(await passes(ofProgram, { programs: nowhere, processes: running("\\one.exe") })).toBe(true);
  });

  it("are what the catalogue says instead, if it says anything", () => {
    const version = {
      version: "1",
      queries: { exists: "SELECT 1", patched: "SELECT 2", closed: "SELECT 3" },
    } as unknown as Parameters<typeof patchQuery>[2];
    expect([patchQuery(app, "1", version), closedQuery(app, version)]).toEqual(["SELECT 2", "SELECT 3"]);
  });
});
