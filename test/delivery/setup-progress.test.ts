// The setup of new hosts: one item after the other, as agents ask for it.
import { describe, expect, it } from "vitest";
import { managedAgents } from "../../src/server/certificates/host-authentication/agents.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { addSecret, agentCall, ManagedAgent, makeManaged } from "../support/managed.ts";
import { withSecondServer } from "../support/second-server.ts";
import {
  chooseScript,
  chooseSoftware,
  installNext,
  notified,
  offerScript,
  setupOf,
  statesOf,
  statusFor,
} from "../support/setups.ts";

const activities = async (t: TestApp, hostId: number) =>
  (
    (await (await t.get(`/hosts/${hostId}/activities`)).json()) as {
      activities: { type: string; details: Record<string, unknown>; svc_initiated: boolean }[];
    }
  ).activities;
const requireAll = (t: TestApp, fields: object) => t.patch("/setup_experience", fields);

describe.each(bothEngines)("the setup of a new host on %s", (engine) => {
  it("installs software in its order, then runs the script", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await offerScript(t, "a.sh"), await offerScript(t, "b.sh")];
    await offerScript(t, "not-chosen.sh");
    await chooseSoftware(t, "linux", [b, a]);
    await chooseScript(t);
    const agent = await makeManaged(t);
    const { id, display_name } = await agent.host();
    expect(await notified(agent)).toEqual({ run_setup_experience: true });
    expect(await setupOf(t, id)).toMatchObject({ status: "pending", started_at: null, ended_at: null });

    expect((await agent.call("/setup_experience/init")).json).toEqual({ result: { enabled: true } });
    const started = t.clock.iso();
    expect(await setupOf(t, id)).toMatchObject({ status: "running", started_at: started });
    const first = await statusFor(agent);
    expect(first).toEqual({
      software: [item("b", "running", { software_title_id: b }), item("a", "pending", { software_title_id: a })],
      script: item("setup.sh", "pending", { execution_id: null }),
      configuration_profiles: [],
      org_logo_url: "",
    });
    expect(await notified(agent), "one item at a time").toEqual({
      run_setup_experience: true,
      pending_software_installer_ids: [expect.any(String)],
    });
    expect(await t.store.operations.count()).toBe(1);

    const uuid = await installNext(agent);
    expect(
      (await setupOf(t, id)).software.map(({ status }) => status),
      "before anyone asks",
    ).toEqual(["success", "pending"]);
    expect(await t.store.operations.count(), "the next poll begins the next item").toBe(1);
    expect(statesOf(await statusFor(agent))).toEqual(["b success", "a running", "setup.sh pending"]);
    await installNext(agent, 1);
    const third = await statusFor(agent);
    expect(statesOf(third), "the setting is off: it goes on").toEqual(["b success", "a failure", "setup.sh running"]);
    expect(third.software[1]!.error).toContain("exit code 1");
    const [execution] = (await notified(agent)).pending_script_execution_ids as string[];
    expect(third.script!.execution_id).toBe(execution);
    t.clock.advance(1000);
    expect(await agent.runScript()).toBe("echo setup");
    expect(statesOf(await statusFor(agent))).toEqual(["b success", "a failure", "setup.sh success"]);
    expect(await notified(agent), "it has ended").toEqual({});
    expect(await setupOf(t, id)).toMatchObject({ status: "failure", started_at: started, ended_at: t.clock.iso() });
    expect((await agent.call("/setup_experience/init")).json).toEqual({ result: { enabled: false } });

    const recorded = (await activities(t, id)).filter(({ type }) => /installed|ran_script/.test(type)).reverse();
    expect(recorded).toMatchObject([
      { type: "installed_software", details: { install_uuid: uuid, status: "installed" }, svc_initiated: true },
      { type: "installed_software", details: { status: "failed_install" }, svc_initiated: true },
      {
        type: "ran_script",
        details: { script_execution_id: execution, script_name: "setup.sh", host_display_name: display_name },
        svc_initiated: true,
      },
    ]);
    await agent.enroll();
    expect(await notified(agent), "a host is set up once").toEqual({});
    expect(await t.store.operations.count()).toBe(3);
  });

  it("ends at the first software that fails, if all of it is required", async () => {
    const t = await startApp({ engine });
    const ids = [await offerScript(t, "a.ps1"), await offerScript(t, "b.ps1")];
    await chooseSoftware(t, "windows", ids);
    await chooseScript(t, "setup.ps1");
    expect((await requireAll(t, { require_all_software_windows: true })).status).toBe(204);
    const agent = await makeManaged(t, { platform: "windows" });
    const { id, display_name } = await agent.host();
    await agent.call("/setup_experience/init");
    await installNext(agent, 7);
    const results = await statusFor(agent);
    expect(statesOf(results)).toEqual(["a failure", "b failure", "setup.ps1 failure"]);
    const because = "cancelled, because a was not installed";
    expect([results.software[1]!.error, results.script!.error]).toEqual([because, because]);
    expect(await notified(agent)).toEqual({});
    expect(await t.store.operations.count(), "the rest was never asked for").toBe(1);
    expect((await activities(t, id))[0]).toMatchObject({
      type: "canceled_setup_experience",
      details: { host_id: id, host_display_name: display_name, software_title: "a", software_title_id: ids[0] },
      svc_initiated: true,
    });
  });

  it("asks for each item once, whoever asks how far it is, and how often", async () => {
    const t = await startApp({ engine });
    const ids = [await offerScript(t, "a.sh"), await offerScript(t, "b.sh")];
    await chooseSoftware(t, "linux", ids);
    const agent = await makeManaged(t);
    const ask = (server: TestApp, path = "status") =>
      agentCall(server, `/setup_experience/${path}`, { agent_node_key: agent.key });
    const all = async (servers: readonly TestApp[]) => {
      for (const count of [1, 2]) {
        const answers = await Promise.all([
          ...servers.map((one) => ask(one)),
          ...servers.map((one) => ask(one, "init")),
        ]);
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        expect(await t.store.operations.count()).toBe(count);
        await installNext(agent);
      }
      await Promise.all(servers.map((one) => ask(one)));
      expect((await setupOf(t, (await agent.host()).id)).status).toBe("success");
      expect(await t.store.operations.count()).toBe(2);
    };
    if (engine === "lowdb") return all([t, t, t]);
    await withSecondServer(t, async (there) => {
      await there.services.running.start(there.services, managedAgents);
      await all([t, there, t, there]);
    });
  });
});

const item = (name: string, status: string, more: object) => ({
  name,
  display_name: name,
  status,
  icon_url: null,
  error: null,
  ...more,
});

describe.each(rulesEngines)("what a host does during its setup on %s", (engine) => {
  it("is what is chosen for its platform and team, if the host can do it", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    const theirs = await offerScript(t, "theirs.sh", team.id);
    await chooseSoftware(t, "linux", [theirs], team.id);
    const label = await makeLabel(t, "some");
    const [mine, limited, mac] = [
      await offerScript(t, "mine.sh"),
      await offerScript(t, "limited.sh", 0, { labels_include_any: label.name }),
      await offerScript(t, "mac.sh"),
    ];
    await chooseSoftware(t, "linux", [limited, mine]);
    await chooseSoftware(t, "macos", [mac]);
    await chooseScript(t, "setup.ps1");
    expect(statesOf(await statusFor(await makeManaged(t)))).toEqual(["mine running"]);
    expect(statesOf(await statusFor(await makeManaged(t, { platform: "darwin" })))).toEqual(["mac running"]);
    const windows = await makeManaged(t, { platform: "windows" });
    expect(statesOf(await statusFor(windows))).toEqual(["setup.ps1 running"]);
    const other = await new ManagedAgent(t).enroll("team-secret");
    expect(statesOf(await statusFor(other))).toEqual(["theirs running"]);
  });

  it("is nothing without choices, on hosts that had an agent before, and on the free tier", async () => {
    const t = await startApp({ engine });
    const early = await makeManaged(t);
    expect(await notified(early)).toEqual({});
    expect((await early.call("/setup_experience/init")).json).toEqual({ result: { enabled: false } });
    await chooseSoftware(t, "linux", [await offerScript(t, "a.sh")]);
    await early.enroll();
    expect(await notified(early)).toEqual({});
    expect(await setupOf(t, (await early.host()).id)).toEqual({
      status: "none",
      started_at: null,
      ended_at: null,
      software: [],
      script: null,
    });
    // A host of an earlier version has no row of its setup.
    await t.store.hostSetups.delete(eq("id", (await early.host()).id));
    await early.enroll();
    expect(await notified(early)).toEqual({});
    const late = await makeManaged(t);
    expect(await notified(late)).toEqual({ run_setup_experience: true });
    Object.assign(t.services.license, { tier: "free" });
    await early.enroll();
    expect((await late.call("/setup_experience/init")).status).toBe(402);
    await late.enroll();
    expect(await notified(late)).toEqual({});
  });

  it("begins without init, as third-party agents do, below their own prefix", async () => {
    const t = await startApp({ engine, settings: { managed_agent_prefix: "/api/svc/orbit" } });
    await chooseSoftware(t, "linux", [await offerScript(t, "a.sh")]);
    const agent = await makeManaged(t);
    const theirs = await agentCall(t, "/api/svc/orbit/setup_experience/status", { orbit_node_key: agent.key });
    expect(statesOf(theirs.json.setup_experience_results)).toEqual(["a running"]);
    const init = await agentCall(t, "/api/svc/orbit/setup_experience/init", { orbit_node_key: agent.key });
    expect(init.json).toEqual({ result: { enabled: true } });
    expect(statesOf(await statusFor(agent, { force_release: true }))).toEqual(["a running"]);
    const bad = await agent.call("/setup_experience/status", { force_release: "now" });
    expect([bad.status, bad.json.errors[0].name]).toEqual([422, "force_release"]);
  });

  it("goes on after what was cancelled, refused, or lost its package, its script or its team", async () => {
    const t = await startApp({ engine });
    const names = ["cancelled", "gone", "last"];
    const ids: number[] = [];
    for (const name of names) ids.push(await offerScript(t, `${name}.sh`));
    await chooseSoftware(t, "linux", ids);
    await chooseScript(t);
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    await agent.call("/setup_experience/init");
    const [uuid] = (await notified(agent)).pending_software_installer_ids as string[];
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${uuid}`)).status).toBe(204);
    // Hosts that are being set up keep their list.
    await chooseSoftware(t, "linux", [ids[0]!, ids[2]!]);
    expect((await t.delete(`/software/titles/${ids[1]}/available_for_install?team_id=0`)).status).toBe(204);
    const results = await statusFor(agent);
    expect(statesOf(results)).toEqual(["cancelled failure", "gone failure", "last running", "setup.sh pending"]);
    expect(results.software.map(({ error }) => error)).toEqual(["it was cancelled", expect.any(String), null]);
    await installNext(agent);
    expect((await t.delete("/setup_experience/script?team_id=0")).status).toBe(200);
    expect((await statusFor(agent)).script).toMatchObject({
      status: "failure",
      error: "the script was deleted meanwhile",
    });
    expect(await notified(agent)).toEqual({});

    await chooseScript(t, "setup.sh", "echo of no team");
    const moved = await makeManaged(t);
    await moved.call("/setup_experience/init");
    const team = await makeTeam(t);
    await t.post("/hosts/transfer", { team_id: team.id, hosts: [(await moved.host()).id] });
    await chooseScript(t, "setup.sh", "echo of the team", team.id);
    await installNext(moved).catch(() => {});
    const after = await statusFor(moved);
    expect(after.script).toMatchObject({ status: "failure", error: "the host has changed its team" });
    expect(await notified(moved)).toEqual({});
  });

  it("waits while a user installs the same software", async () => {
    const t = await startApp({ engine });
    const title = await offerScript(t, "a.sh");
    await chooseSoftware(t, "linux", [title]);
    const agent = await makeManaged(t);
    await t.post(`/hosts/${(await agent.host()).id}/software/${title}/install`);
    expect(statesOf(await statusFor(agent))).toEqual(["a pending"]);
    await installNext(agent);
    expect(statesOf(await statusFor(agent))).toEqual(["a running"]);
  });

  it("fails where scripts are disabled", async () => {
    const t = await startApp({ engine });
    await chooseScript(t);
    const agent = await makeManaged(t);
    await agent.call("/setup_experience/init");
    await agent.runScript(-2, "");
    expect((await statusFor(agent)).script!.error).toBe(
      "the script was not run, because scripts are disabled on the host",
    );
    const other = await makeManaged(t);
    await t.store.hosts.update({ where: eq("id", (await other.host()).id), set: { scripts_enabled: false } });
    expect((await statusFor(other)).script).toMatchObject({
      status: "failure",
      error: expect.stringContaining("scripts"),
    });
  });
});

describe.each(rulesEngines)("the setup of a host on %s", (engine) => {
  it("is seen by those who may see the host", async () => {
    const t = await startApp({ engine });
    await chooseScript(t);
    const team = await makeTeam(t);
    const { id } = await (await makeManaged(t)).host();
    const path = `/hosts/${id}/setup_experience`;
    expect((await (await makeUser(t, "observer")).get(path)).status).toBe(200);
    const stranger = await makeUser(t, { teams: [{ id: team.id, role: "admin" }] });
    expect((await stranger.get(path)).status).toBe(404);
    expect((await (await makeUser(t, "gitops")).get(path)).status).toBe(403);
    expect((await t.get("/hosts/999999/setup_experience")).status).toBe(404);
    expect((await t.get("/hosts/x/setup_experience")).status).toBe(400);
  });

  it("is on its own page, whose polls begin what comes next", async () => {
    const t = await startApp({ engine });
    const ids = [await offerScript(t, "a.sh"), await offerScript(t, "b.sh")];
    await chooseSoftware(t, "linux", ids);
    const agent = await makeManaged(t);
    const token = "00000000-0000-4000-8000-00000000abcd";
    await agent.call("/device_token", { device_auth_token: token });
    const page = async () => (await t.raw(`/device/${token}`)).text();
    expect(await page()).toContain("is being set up");
    expect(await t.store.operations.count(), "a page only looks").toBe(0);
    const poll = async (name: string) => {
      const res = await t.raw(`/api/v1/svc/device/${name}/setup_experience/status`, { method: "POST" });
      return [res.status, (await res.json()) as object] as const;
    };
    expect((await poll("wrong"))[0]).toBe(401);
    expect(await poll(token)).toEqual([
      200,
      {
        setup_experience_results: {
          software: [
            item("a", "running", { software_title_id: ids[0] }),
            item("b", "pending", { software_title_id: ids[1] }),
          ],
        },
      },
    ]);
    expect(await page()).toContain("is being installed");
    await installNext(agent);
    await poll(token);
    await installNext(agent);
    await poll(token);
    expect(await page()).not.toContain("is being set up");
    expect((await setupOf(t, (await agent.host()).id)).status).toBe("success");
  });
});

it("a host is forgotten with its setup, and a team's secret sets up its own hosts", async () => {
  const t = await startApp();
  await chooseScript(t);
  await addSecret(t);
  const agent = await makeManaged(t);
  await agent.call("/setup_experience/init");
  await t.delete(`/hosts/${(await agent.host()).id}`);
  expect([await t.store.hostSetups.count(), await t.store.hostSetupItems.count()]).toEqual([0, 0]);
});
