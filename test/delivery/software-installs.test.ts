// Installing and uninstalling packages on hosts: what agents get, and what users see of it.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { BulkOutcome } from "../../src/api/inventory/bulk-actions.ts";
import type { Package } from "../../src/api/software/packages.ts";
import type { HostSoftwareItem } from "../../src/api/software/software.ts";
import { managedAgents } from "../../src/server/certificates/host-authentication/agents.ts";
import { requestInstall } from "../../src/server/delivery/software-installs/service.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { settleOverdue } from "../../src/server/hosts/operations/queue.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeLabel, makePolicy, makeSoftware, makeTeam, makeUser } from "../support/make.ts";
import { agentCall, ManagedAgent, makeManaged } from "../support/managed.ts";
import { json } from "../support/replies.ts";
import { withSecondServer } from "../support/second-server.ts";

const TEXT = "#!/bin/sh\necho installed\n";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

async function upload(t: TestApp, fields: Record<string, string> = {}, text = TEXT): Promise<Package> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.set("software", new File([text], fields.file ?? "tool.sh"));
  body.delete("file");
  const res = await t.post("/software/package", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { software_package: Package }).software_package;
}

const refusal = async (res: Response | Promise<Response>) => {
  const { status } = await res;
  const { errors } = (await json(res)) as { errors: { name: string; reason: string }[] };
  return [status, errors[0]!.reason] as const;
};

const everything = { uninstall_script: "#!/bin/sh\necho removed\n" };

/** A host with an agent and a package that it can install. */
async function world(t: TestApp, fields: Record<string, string> = everything) {
  const agent = await makeManaged(t);
  const { id } = await agent.host();
  const package_ = await upload(t, fields);
  const path = `/hosts/${id}/software/${package_.title_id}`;
  return { agent, id, package: package_, titleId: package_.title_id, path };
}

const pending = async (agent: ManagedAgent): Promise<string[]> =>
  (await agent.call("/config")).json.notifications.pending_software_installer_ids ?? [];
const done = {
  pre_install_condition_output: null,
  install_script_exit_code: 0,
  install_script_output: "done",
  post_install_script_exit_code: null,
  post_install_script_output: null,
};

async function finish(agent: ManagedAgent, answer: object = done): Promise<string> {
  const [install_uuid] = await pending(agent);
  expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(200);
  expect((await agent.call("/software_install/result", { install_uuid, ...answer })).status).toBe(204);
  return install_uuid!;
}

const softwareOf = async (t: TestApp, id: number, query = ""): Promise<HostSoftwareItem[]> =>
  ((await json(t.get(`/hosts/${id}/software${query}`))) as unknown as { software: HostSoftwareItem[] }).software;
const statusOf = async (t: TestApp, id: number, titleId: number) =>
  (await softwareOf(t, id)).find((one) => one.id === titleId)?.status ?? null;
const countsOf = async (t: TestApp, titleId: number) =>
  ((await json(t.get(`/software/titles/${titleId}?team_id=0`))) as { software_title: { software_package: Package } })
    .software_title.software_package.status;
const activitiesOf = async (t: TestApp, id: number) =>
  (
    (await json(t.get(`/hosts/${id}/activities`))) as {
      activities: { type: string; details: object; actor_full_name?: string; svc_initiated: boolean }[];
    }
  ).activities;
const upcoming = async (t: TestApp, id: number) =>
  (
    (await json(t.get(`/hosts/${id}/activities/upcoming`))) as {
      activities: { uuid: string; type: string; details: Record<string, unknown>; svc_initiated: boolean }[];
    }
  ).activities;
const hostsWith = async (t: TestApp, titleId: number, status: string) =>
  (
    (await json(t.get(`/hosts?team_id=0&software_title_id=${titleId}&software_status=${status}`))) as {
      hosts: { id: number }[];
    }
  ).hosts.map(({ id }) => id);
const none = { installed: 0, pending_install: 0, failed_install: 0, pending_uninstall: 0, failed_uninstall: 0 };

describe.each(bothEngines)("packages on hosts of %s", (engine) => {
  it("are installed on many hosts at once, where they can be", async () => {
    const t = await startApp({ engine });
    const { id, titleId, path } = await world(t);
    const second = await (await makeManaged(t)).host();
    const team = await makeTeam(t);
    const foreign = await makeHost(t, { team_id: team.id, platform: "ubuntu" });
    const bare = await makeHost(t, { platform: "ubuntu" });
    expect((await t.post(`${path}/install`)).status).toBe(202);
    const install = (headers: Record<string, string> = {}) =>
      t.request("POST", `/software/titles/${titleId}/install`, { filters: {} }, headers);
    const would = await json(install({ "Dry-Run": "true" }));
    expect(await statusOf(t, second.id, titleId)).toBe(null);
    const { task_id, ...outcome } = await json<BulkOutcome>(install());
    expect({ ...outcome, task_id: null }).toEqual(would);
    expect(outcome).toMatchObject({ count: 4, done: 1, hosts: [{ id: second.id }], skipped: 3 });
    const reasons = new Map(outcome.skipped_reasons.map(({ reason, hosts }) => [hosts[0]!.id, reason]));
    expect(reasons.get(id)).toBe("the host is about to install or uninstall tool.sh already");
    expect(reasons.get(foreign.id)).toBe(
      `no package or app of the software title ${titleId} is offered in the team of the host`,
    );
    expect(reasons.get(bare.id)).toContain("agent");
    expect(await statusOf(t, second.id, titleId)).toBe("pending_install");
    const [run] = await t.store.softwareInstallRuns.list({ where: eq("host_id", second.id) });
    expect(await json(t.get(`/tasks/${task_id}/hosts?outcome=done`))).toMatchObject({
      hosts: [{ id: second.id, reference: run!.uuid }],
    });
    const observer = await makeUser(t, "observer");
    expect((await observer.post(`/software/titles/${titleId}/install`, { ids: [id] })).status).toBe(403);
  });

  it("are uninstalled from many hosts at once, where they can be", async () => {
    const t = await startApp({ engine });
    const { id, titleId } = await world(t);
    const second = await (await makeManaged(t)).host();
    const team = await makeTeam(t);
    const foreign = await makeHost(t, { team_id: team.id, platform: "ubuntu" });
    const bare = await makeHost(t, { platform: "ubuntu" });
    const uninstall = (body: object, headers: Record<string, string> = {}) =>
      t.request("POST", `/software/titles/${titleId}/uninstall`, body, headers);
    const all = { filters: {} };
    await t.store.softwareInstallers.update({ where: eq("title_id", titleId), set: { uninstall_script: "" } });
    const scriptless = await json<BulkOutcome>(uninstall(all, { "Dry-Run": "true" }));
    expect(scriptless).toMatchObject({ count: 4, done: 0 });
    expect(scriptless.skipped_reasons.map(({ reason }) => reason)).toContainEqual(
      "tool.sh has no script that uninstalls it",
    );
    await t.store.softwareInstallers.update({ where: eq("title_id", titleId), set: { uninstall_script: "rm tool" } });

    const would = await json(uninstall(all, { "Dry-Run": "true" }));
    expect(await t.store.softwareInstallRuns.count()).toBe(0);
    const wrong = await uninstall(all, { "X-Expected-Count": "3" });
    expect([409, 412]).toContain(wrong.status);
    const { task_id, ...outcome } = await json<BulkOutcome>(uninstall(all));
    expect({ ...outcome, task_id: null }).toEqual(would);
    expect(outcome).toMatchObject({ count: 4, done: 2, skipped: 2 });
    expect(outcome.hosts.map((host) => host.id).sort()).toEqual([id, second.id].sort());
    const reasons = new Map(outcome.skipped_reasons.map(({ reason, hosts }) => [hosts[0]!.id, reason]));
    expect(reasons.get(foreign.id)).toContain("is offered in the team of the host");
    expect(reasons.get(bare.id)).toContain("agent");
    for (const host of [id, second.id]) expect(await statusOf(t, host, titleId)).toBe("pending_uninstall");
    const [run] = await t.store.softwareInstallRuns.list({ where: eq("host_id", second.id) });
    const [execution] = await t.store.scriptExecutions.list({ where: eq("host_id", second.id) });
    expect(execution).toMatchObject({ uuid: run!.uuid, state: "pending" });
    expect(await json(t.get(`/tasks/${task_id}/hosts?outcome=done`))).toMatchObject({
      hosts: [{ reference: expect.any(String) }, { reference: expect.any(String) }],
    });
    expect(await json<BulkOutcome>(uninstall({ ids: [id] })), "it is asked already").toMatchObject({ done: 0 });
    const observer = await makeUser(t, "observer");
    expect((await observer.post(`/software/titles/${titleId}/uninstall`, { ids: [id] })).status).toBe(403);
    const other = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await other.post(`/software/titles/${titleId}/uninstall`, { ids: [id] })).status).toBe(404);
  });

  it("are installed and uninstalled, as hosts, packages and activities show", async () => {
    const t = await startApp({ engine });
    const {
      agent,
      id,
      package: offered,
      titleId,
      path,
    } = await world(t, {
      ...everything,
      pre_install_query: "SELECT 1",
      post_install_script: "#!/bin/sh\necho post\n",
    });
    const answer = await t.post(`${path}/install`);
    expect([answer.status, await answer.json()]).toEqual([202, {}]);
    expect(await statusOf(t, id, titleId)).toBe("pending_install");
    expect(await countsOf(t, titleId)).toEqual({ ...none, pending_install: 1 });
    expect(await hostsWith(t, titleId, "pending")).toEqual([id]);

    const [uuid] = await pending(agent);
    const common = { host_id: id, software_title: "tool", self_service: false, source: expect.any(String) };
    const details = {
      ...common,
      software_package: "tool.sh",
      install_uuid: uuid,
      policy_id: null,
      policy_name: null,
      host_display_name: expect.any(String),
    };
    expect(await upcoming(t, id)).toMatchObject([
      { uuid, type: "installed_software", details: { ...details, status: "pending_install" }, svc_initiated: false },
    ]);
    const { json: given } = await agent.call("/software_install/details", { install_uuid: uuid });
    expect(given).toEqual({
      install_id: uuid,
      installer_id: offered.installer_id,
      installer_name: "tool.sh",
      installer_size: TEXT.length,
      installer_sha256: sha256(TEXT),
      timeout: 3600,
      pre_install_condition: "SELECT 1",
      install_script: TEXT,
      uninstall_script: everything.uninstall_script,
      post_install_script: "#!/bin/sh\necho post\n",
      self_service: false,
    });
    const file = await download(agent, offered.installer_id);
    expect([file.status, await file.text()]).toEqual([200, TEXT]);
    expect(file.headers.get("repr-digest")).toBe(`sha-256=:${Buffer.from(sha256(TEXT), "hex").toString("base64")}:`);
    const rest = await download(agent, offered.installer_id, { range: "bytes=10-" });
    expect([rest.status, await rest.text()]).toEqual([206, TEXT.slice(10)]);

    const report = {
      install_uuid: uuid,
      pre_install_condition_output: '[{"1":"1"}]',
      install_script_exit_code: 0,
      install_script_output: "installed",
      post_install_script_exit_code: 0,
      post_install_script_output: "post",
    };
    expect((await agent.call("/software_install/result", report)).status).toBe(204);
    const late = { ...report, install_script_exit_code: 1, post_install_script_exit_code: 1 };
    expect((await agent.call("/software_install/result", late)).status, "an answer that arrives again").toBe(204);
    expect(await json(t.get(`/software/install/${uuid}/results`))).toMatchObject({
      install_uuid: uuid,
      software_title: "tool",
      software_title_id: titleId,
      software_package: "tool.sh",
      host_id: id,
      status: "installed",
      message: "",
      output: "installed",
      pre_install_query_output: '[{"1":"1"}]',
      post_install_script_output: "post",
    });
    expect(await statusOf(t, id, titleId)).toBe("installed");
    expect(await countsOf(t, titleId)).toEqual({ ...none, installed: 1 });
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "installed_software",
      details: { ...details, status: "installed" },
      actor_full_name: "Ada Admin",
      svc_initiated: false,
    });
    expect((await download(agent, offered.installer_id)).status, "nothing is queued any more").toBe(404);
    expect(await upcoming(t, id)).toEqual([]);

    expect((await t.post(`${path}/uninstall`)).status).toBe(202);
    expect(await statusOf(t, id, titleId)).toBe("pending_uninstall");
    expect(await upcoming(t, id)).toMatchObject([{ type: "uninstalled_software" }]);
    const [execution] = await agent.pending();
    expect(await agent.runScript(1, "busy")).toBe(everything.uninstall_script);
    expect(await statusOf(t, id, titleId)).toBe("failed_uninstall");
    expect(await json(t.get(`/scripts/results/${execution}`))).toMatchObject({ exit_code: 1, output: "busy" });
    expect((await t.post(`${path}/uninstall`)).status).toBe(202);
    const [second] = await agent.pending();
    await agent.runScript(0, "removed");
    expect(await statusOf(t, id, titleId), "a title that is not installed has no state").toBeNull();
    expect(await countsOf(t, titleId)).toEqual(none);
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "uninstalled_software",
      details: { ...common, script_execution_id: second, status: "uninstalled" },
    });
  });
});

const download = (agent: ManagedAgent, installer_id: number, headers: Record<string, string> = {}) =>
  agent.t.raw("/api/v1/svc/agent/software_install/package?alt=media", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ agent_node_key: agent.key, installer_id }),
  });

it.each([
  ["the script after it fails", { post_install_script_exit_code: 1, post_install_script_output: "no" }, "rolled"],
  ["the installation script fails", { install_script_exit_code: 7 }, "exit code 7"],
  ["it does not end in time", { install_script_exit_code: -1 }, "in time"],
  ["scripts are disabled", { install_script_exit_code: -2 }, "disabled"],
  [
    "the query before it returns no row",
    { pre_install_condition_output: "", install_script_exit_code: null, install_script_output: null },
    "no row",
  ],
])("an installation has failed if %s", async (_what, answer, message) => {
  const t = await startApp();
  const { agent, id, titleId, path } = await world(t);
  await t.post(`${path}/install`);
  const uuid = await finish(agent, { ...done, ...answer });
  expect(await json(t.get(`/software/install/${uuid}/results`))).toMatchObject({
    status: "failed_install",
    message: expect.stringContaining(message),
  });
  expect(await statusOf(t, id, titleId)).toBe("failed_install");
  expect((await activitiesOf(t, id))[0]).toMatchObject({
    type: "installed_software",
    details: { status: "failed_install" },
  });
  expect(await hostsWith(t, titleId, "failed")).toEqual([id]);
});

it("an answer of no step leaves the installation pending", async () => {
  const t = await startApp();
  const { agent, id, titleId, path } = await world(t);
  await t.post(`${path}/install`);
  const uuid = await finish(agent, { ...done, pre_install_condition_output: "[]", install_script_exit_code: null });
  expect(await statusOf(t, id, titleId)).toBe("pending_install");
  expect(await pending(agent)).toEqual([uuid]);
});

it("a host without a result in time has failed, and is not asked again; its late answer counts", async () => {
  const t = await startApp();
  const { agent, id, titleId, path } = await world(t);
  await t.post(`${path}/install`);
  const [install_uuid] = await pending(agent);
  await agent.call("/software_install/details", { install_uuid });
  t.clock.advance(hours(1));
  await settleOverdue(serviceContext(t.services), new AbortController().signal);
  expect(await statusOf(t, id, titleId), "its answer may be on its way").toBe("pending_install");
  t.clock.advance(hours(1.1));
  await settleOverdue(serviceContext(t.services), new AbortController().signal);
  expect(await json(t.get(`/software/install/${install_uuid}/results`))).toMatchObject({
    status: "failed_install",
    message: expect.stringContaining("in time"),
    output: null,
  });
  expect(await pending(agent)).toEqual([]);
  expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(404);
  expect((await agent.call("/software_install/result", { install_uuid, ...done })).status).toBe(204);
  expect(await statusOf(t, id, titleId)).toBe("installed");
});

describe("a request is refused", () => {
  const refusedWith = (reason: string) => [400, expect.stringContaining(reason)];

  it("if the host cannot install the package", async () => {
    const t = await startApp();
    const { path, id, titleId } = await world(t);
    const team = await makeTeam(t);
    const windows = await makeManaged(t, { platform: "windows" });
    const bare = await makeHost(t, { platform: "ubuntu", team_id: team.id });
    const inTeam = await upload(t, { team_id: String(team.id) });
    const on = (host: number, title = titleId) => t.post(`/hosts/${host}/software/${title}/install`);
    expect(await refusal(on((await windows.host()).id))).toEqual(refusedWith("not for this host"));
    expect(await refusal(on(id, 4711))).toEqual(
      refusedWith("no package or app of the software title 4711 is offered to hosts without a team"),
    );
    expect(await refusal(on(bare.id, inTeam.title_id))).toEqual(refusedWith("no managed agent"));
    expect((await on(4711)).status).toBe(404);
    await t.post(`${path}/install`);
    expect(await refusal(t.post(`${path}/install`))).toEqual(refusedWith("already"));
    expect(await refusal(t.post(`${path}/uninstall`))).toEqual(refusedWith("already"));
  });

  it("if the package to uninstall is for another platform, or is not on the host", async () => {
    const t = await startApp();
    const { agent, path, id, titleId } = await world(t);
    const windows = await makeManaged(t, { platform: "windows" });
    const uninstall = async (host: number) => t.post(`/hosts/${host}/software/${titleId}/uninstall`);
    const foreign = (await windows.host()).id;
    expect(await refusal(uninstall(foreign))).toEqual(refusedWith("not for this host"));
    expect(await upcoming(t, foreign)).toEqual([]);

    await makeInventory(t, id, [await makeSoftware(t, "Something else", "1")]);
    expect(await refusal(uninstall(id))).toEqual(refusedWith("neither reports nor has installed it"));
    await t.post(`${path}/install`);
    await finish(agent);
    expect((await uninstall(id)).status, "installed by this server").toBe(202);

    const other = await makeManaged(t);
    const there = (await other.host()).id;
    expect(there).not.toBe(id);
    const { name } = (await t.store.softwareTitles.get(titleId))!;
    const version = await t.store.software.insert({ title_id: titleId, name, version: "2", source: "", key: "tool|2" });
    await makeInventory(t, there, [version]);
    expect((await uninstall(there)).status, "reported by the host").toBe(202);
  });

  it("if the labels of the package exclude the host, or its scripts are disabled", async () => {
    const t = await startApp();
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    await makeLabel(t, "Elsewhere", []);
    const scoped = await upload(t, { labels_include_any: "Elsewhere" });
    expect(await refusal(t.post(`/hosts/${id}/software/${scoped.title_id}/install`))).toEqual(refusedWith("labels"));
    expect(await refusal(t.post(`/hosts/${id}/software/${scoped.title_id}/uninstall`))).toEqual(
      refusedWith("no script that uninstalls"),
    );
    const other = await upload(t, { file: "other.sh" }, "#!/bin/sh\necho other\n");
    await t.store.hosts.update({ where: { op: "eq", column: "id", value: id }, set: { scripts_enabled: false } });
    expect(await refusal(t.post(`/hosts/${id}/software/${other.title_id}/install`))).toEqual(refusedWith("scripts"));
  });

  it("on the free tier, and for users without the right to do so on the host's team", async () => {
    const t = await startApp();
    const { agent, path } = await world(t);
    const [mine, foreign] = [await makeTeam(t), await makeTeam(t)];
    const of = (role: "maintainer" | "observer" | "technician") => makeUser(t, { teams: [{ id: mine.id, role }] });
    for (const user of [await makeUser(t, "observer"), await makeUser(t, "gitops")])
      for (const what of ["install", "uninstall"]) expect((await user.post(`${path}/${what}`)).status).toBe(403);
    expect((await (await of("maintainer")).post(`${path}/install`)).status).toBe(404);
    await t.store.hosts.update({ where: { op: "eq", column: "uuid", value: agent.uuid }, set: { team_id: mine.id } });
    const inTeam = await upload(t, { team_id: String(mine.id) });
    const here = `/hosts/${(await agent.host()).id}/software/${inTeam.title_id}/install`;
    expect((await (await of("observer")).post(here)).status).toBe(403);
    expect((await (await of("technician")).post(here)).status).toBe(202);
    const uuid = await finish(agent);
    const result = `/software/install/${uuid}/results`;
    expect((await (await of("observer")).get(result)).status).toBe(200);
    const outsider = await makeUser(t, { teams: [{ id: foreign.id, role: "admin" }] });
    expect((await outsider.get(result)).status).toBe(404);
    const free = await startApp({ tier: "free" });
    const host = await makeHost(free);
    expect((await free.post(`/hosts/${host.id}/software/1/install`)).status).toBe(402);
  });
});

describe.each(rulesEngines)("installations on %s", (engine) => {
  it("wait their turn: one operation of a host at a time, in the order in which they were asked for", async () => {
    const t = await startApp({ engine });
    const { agent, id, path } = await world(t);
    const second = await upload(t, { file: "second.sh" }, "#!/bin/sh\necho second\n");
    await t.post("/scripts/run", { host_id: id, script_contents: "echo first" });
    await t.post(`${path}/install`);
    await t.post(`/hosts/${id}/software/${second.title_id}/install`);
    const [, first, last] = await upcoming(t, id);
    expect(await pending(agent)).toEqual([]);
    expect((await agent.call("/software_install/details", { install_uuid: first!.uuid })).status).toBe(404);
    expect((await download(agent, second.installer_id)).status, "not begun").toBe(404);
    await agent.runScript();
    expect(await pending(agent)).toEqual([first!.uuid]);
    expect(await agent.pending()).toEqual([]);
    const asScript = await agent.call("/scripts/request", { execution_id: first!.uuid });
    expect(asScript.status).toBe(404);
    const answered = { execution_id: first!.uuid, exit_code: 0, output: "", runtime: 1 };
    expect((await agent.call("/scripts/result", answered)).status).toBe(404);
    await finish(agent);
    expect(await pending(agent)).toEqual([last!.uuid]);
  });

  it("belong to one host: another one gets neither what to do, nor the file, nor may it answer", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path, package: offered } = await world(t);
    const other = await makeManaged(t);
    await t.post(`${path}/install`);
    const [install_uuid] = await pending(agent);
    await agent.call("/software_install/details", { install_uuid });
    expect((await other.call("/software_install/details", { install_uuid })).status).toBe(404);
    expect((await download(other, offered.installer_id)).status).toBe(404);
    expect((await other.call("/software_install/result", { install_uuid, ...done })).status).toBe(404);
    const undecided = { ...done, install_script_exit_code: null };
    expect((await other.call("/software_install/result", { install_uuid, ...undecided })).status).toBe(404);
    expect(await statusOf(t, id, titleId)).toBe("pending_install");
  });

  it("can be cancelled until the host begins; the state before counts again", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path } = await world(t);
    await t.post(`${path}/install`);
    await finish(agent);
    await t.post(`${path}/install`);
    const [waiting] = await upcoming(t, id);
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${waiting!.uuid}`)).status).toBe(204);
    expect(await statusOf(t, id, titleId)).toBe("installed");
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "canceled_install_software",
      details: { host_id: id, software_title: "tool", software_title_id: titleId },
    });
    expect(await json(t.get(`/software/install/${waiting!.uuid}/results`))).toMatchObject({ status: "canceled" });
    await t.post(`${path}/uninstall`);
    const [uninstall] = await upcoming(t, id);
    await agent.call("/scripts/request", { execution_id: uninstall!.uuid });
    expect(await refusal(t.delete(`/hosts/${id}/activities/upcoming/${uninstall!.uuid}`))).toEqual([
      400,
      expect.stringContaining("started uninstalling"),
    ]);
  });

  it("are cancelled by changes of the package, unless the host has begun: it goes on with its file", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path, package: offered } = await world(t);
    const waiting = await makeManaged(t);
    const there = (await waiting.host()).id;
    const change = async (fields: Record<string, string>, text?: string) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ team_id: "0", ...fields })) body.append(name, value);
      if (text !== undefined) body.set("software", new File([text], "tool.sh"));
      const res = await t.request("PATCH", `/software/titles/${titleId}/package`, body);
      expect(res.status, await res.clone().text()).toBe(200);
    };
    await t.post(`${path}/install`);
    await t.post(`/hosts/${there}/software/${titleId}/install`);
    const [install_uuid] = await pending(agent);
    await agent.call("/software_install/details", { install_uuid });
    await change({ self_service: "true" });
    expect(await countsOf(t, titleId)).toEqual({ ...none, pending_install: 2 });
    await change({}, "#!/bin/sh\necho newer\n");
    expect(await pending(waiting)).toEqual([]);
    expect((await activitiesOf(t, there))[0]).toMatchObject({ type: "canceled_install_software" });
    expect(await countsOf(t, titleId), "a new file starts anew").toEqual(none);
    expect(await (await download(agent, offered.installer_id)).text()).toBe(TEXT);
    await agent.call("/software_install/result", { install_uuid, ...done });
    expect(await countsOf(t, titleId), "it has the earlier file").toEqual(none);
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "installed_software",
      details: { status: "installed" },
    });
    await t.post(`${path}/install`);
    expect((await t.delete(`/software/titles/${titleId}/available_for_install?team_id=0`)).status).toBe(204);
    expect(await pending(agent)).toEqual([]);
  });

  it("are cancelled with the package, uninstalls too; what a host has begun is shown until it ends", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path } = await world(t);
    const waiting = await makeManaged(t);
    const there = (await waiting.host()).id;
    const idle = `/hosts/${there}/software/${titleId}`;
    const remove = async () =>
      expect((await t.delete(`/software/titles/${titleId}/available_for_install?team_id=0`)).status).toBe(204);
    const scripts = async (of: ManagedAgent): Promise<string[]> =>
      (await of.call("/config")).json.notifications.pending_script_execution_ids ?? [];
    for (const [of, at] of [
      [agent, path],
      [waiting, idle],
    ] as const) {
      expect((await t.post(`${at}/install`)).status).toBe(202);
      await finish(of);
      expect((await t.post(`${at}/uninstall`)).status).toBe(202);
    }
    const [execution_id] = await scripts(agent);
    await agent.call("/scripts/request", { execution_id });
    await remove();
    expect(await scripts(waiting)).toEqual([]);
    expect((await activitiesOf(t, there))[0]).toMatchObject({
      type: "canceled_uninstall_software",
      details: { host_id: there, software_title: "tool" },
    });
    expect(await upcoming(t, there)).toEqual([]);
    expect([await statusOf(t, there, titleId), await statusOf(t, id, titleId)]).toEqual([null, "pending_uninstall"]);

    await upload(t, everything);
    expect([await statusOf(t, there, titleId), await statusOf(t, id, titleId)]).toEqual([null, "pending_uninstall"]);
    expect((await t.post(`${idle}/uninstall`)).status, "nothing is in the way").toBe(202);
    expect((await refusal(t.post(`${path}/uninstall`)))[1]).toContain("already");
    await agent.call("/scripts/result", { execution_id, exit_code: 1, output: "no", runtime: 1, timeout: 30 });
    expect(await statusOf(t, id, titleId), "of the earlier package").toBeNull();
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "uninstalled_software",
      details: { status: "failed_uninstall" },
    });
    expect((await t.post(`${path}/install`)).status).toBe(202);
    expect(await statusOf(t, id, titleId)).toBe("pending_install");
  });

  it("are for the team of the host: after a transfer, the host does not install or remove it", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path } = await world(t);
    const other = await upload(t, { ...everything, file: "other.sh" }, `${TEXT}# other\n`);
    const team = await makeTeam(t);
    await t.post(`${path}/install`);
    await finish(agent);
    await t.post(`${path}/uninstall`);
    await t.post(`/hosts/${id}/software/${other.title_id}/install`);
    const [, { uuid: install_uuid } = { uuid: "" }] = await upcoming(t, id);
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [id] })).status).toBe(200);
    expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(404);
    expect((await activitiesOf(t, id)).slice(0, 2).map(({ type, svc_initiated }) => [type, svc_initiated])).toEqual([
      ["canceled_install_software", false],
      ["canceled_uninstall_software", false],
    ]);
    expect(await upcoming(t, id)).toEqual([]);
    expect(await pending(agent)).toEqual([]);
    expect(await agent.pending()).toEqual([]);
    expect(await countsOf(t, other.title_id)).toEqual(none);
    expect(await countsOf(t, titleId)).toMatchObject({ pending_uninstall: 0 });
  });

  it("are for the team of the host, also if they were asked for while it was being moved", async () => {
    const t = await startApp({ engine });
    const { agent, id, path } = await world(t);
    const team = await makeTeam(t);
    await t.post(`${path}/install`);
    const [install_uuid] = await pending(agent);
    await t.store.hosts.update({ where: eq("id", id), set: { team_id: team.id } });
    expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(404);
    expect((await activitiesOf(t, id))[0]).toMatchObject({ type: "canceled_install_software", svc_initiated: true });
    expect(await upcoming(t, id)).toEqual([]);
  });

  it("get the values of variables, and nothing that is stored or shown repeats secrets", async () => {
    const t = await startApp({ engine });
    const added = await t.post("/custom_variables", { name: "LICENSE", value: "s3cr3t-value" });
    expect(added.status).toBe(200);
    const { agent, id, titleId } = await world(t, { post_install_script: "#!/bin/sh\necho $SVC_SECRET_LICENSE\n" });
    await t.post(`/hosts/${id}/software/${titleId}/install`);
    const [install_uuid] = await pending(agent);
    const { json: given } = await agent.call("/software_install/details", { install_uuid });
    expect(given.post_install_script).toBe("#!/bin/sh\necho s3cr3t-value\n");
    const answer = { ...done, post_install_script_exit_code: 0, post_install_script_output: "got s3cr3t-value" };
    await agent.call("/software_install/result", { install_uuid, ...answer });
    const result = await json(t.get(`/software/install/${install_uuid}/results`));
    expect(result.post_install_script_output).not.toContain("s3cr3t-value");
    expect(JSON.stringify(await t.store.operations.list())).not.toContain("s3cr3t-value");
  });

  it("are listed among the software of a host: what it has, and what it could install", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId, path } = await world(t, { self_service: "true" });
    const hidden = await upload(t, { file: "hidden.sh" }, "#!/bin/sh\necho hidden\n");
    const figma = await makeSoftware(t, "Figma", "1.2");
    await makeInventory(t, id, [figma]);
    const ids = async (query: string) => (await softwareOf(t, id, query)).map((one) => one.id).sort((a, b) => a - b);
    expect(await ids("")).toEqual([figma.title_id]);
    expect(await ids("?available_for_install=true")).toEqual([titleId, hidden.title_id].sort((a, b) => a - b));
    expect(await ids("?self_service=true")).toEqual([titleId]);
    await t.post(`${path}/install`);
    const uuid = await finish(agent);
    expect(await ids("")).toEqual([titleId, figma.title_id].sort((a, b) => a - b));
    const shown = (await softwareOf(t, id)).find((one) => one.id === titleId);
    expect(shown).toMatchObject({
      status: "installed",
      app_store_app: null,
      software_package: {
        name: "tool.sh",
        platform: "linux",
        self_service: true,
        has_uninstall_script: false,
        last_install: { install_uuid: uuid, installed_at: t.clock.iso() },
        last_uninstall: null,
      },
    });
  });

  it("by the host's user have no actor; only what is offered to users can be installed", async () => {
    const t = await startApp({ engine });
    const { agent, id, titleId } = await world(t, { self_service: "true" });
    const hidden = await upload(t, { file: "hidden.sh" }, "#!/bin/sh\necho hidden\n");
    const ctx = serviceContext(t.services);
    await expect(
      requestInstall(ctx, { hostId: id, titleId: hidden.title_id, selfService: true }),
    ).rejects.toMatchObject({ status: 400 });
    await requestInstall(ctx, { hostId: id, titleId, selfService: true });
    expect(await upcoming(t, id)).toMatchObject([{ svc_initiated: false, details: { self_service: true } }]);
    await finish(agent);
    const [entry] = await activitiesOf(t, id);
    expect(entry).toMatchObject({ type: "installed_software", svc_initiated: false, details: { self_service: true } });
    expect(entry!.actor_full_name).toBeUndefined();
  });
});

describe.each(bothEngines)("policies with software on %s", (engine) => {
  it("install it on hosts that newly fail them, once", async () => {
    const t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    const team = await makeTeam(t);
    const secrets = await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    expect(secrets.status).toBe(200);
    const agent = await new ManagedAgent(t, { qengine_identifier: "both" }).enroll("team-secret");
    const { id } = await agent.host();
    const send = throughApp(t);
    const node_key = await enroll(send, { enroll_secret: "team-secret", host_identifier: "both" });
    const { title_id } = await upload(t, { team_id: String(team.id) });
    const made = await t.post(`/teams/${team.id}/policies`, {
      name: "Has the tool",
      query: "SELECT 1",
      software_title_id: title_id,
    });
    expect(made.status).toBe(200);
    const { policy } = (await made.json()) as { policy: { id: number } };
    const report = async (rows: object[]) => {
      const name = `svc_policy_query_${policy.id}`;
      const body = { node_key, queries: { [name]: rows }, statuses: { [name]: 0 }, messages: {} };
      expect((await send("/api/v1/qengine/distributed/write", body)).status).toBe(200);
      await runJob(t.services, "policy_actions");
    };
    await report([{ "1": "1" }]);
    expect(await upcoming(t, id)).toEqual([]);
    await report([]);
    const policyOf = { policy_id: policy.id, policy_name: "Has the tool", status: "pending_install" };
    expect(await upcoming(t, id)).toMatchObject([
      { type: "installed_software", details: policyOf, svc_initiated: true },
    ]);
    await finish(agent);
    expect((await activitiesOf(t, id))[0]).toMatchObject({
      type: "installed_software",
      details: { policy_name: "Has the tool", status: "installed" },
      svc_initiated: true,
    });
    const runs = await t.get(`/policies/${policy.id}/automation_activities`);
    const [run] = await t.store.softwareInstallRuns.list();
    expect(await runs.json()).toMatchObject({
      count: 1,
      activities: [
        {
          type: "installed_software",
          host_id: id,
          status: "success",
          output: run!.answer!.install_script_output,
          post_install_output: run!.answer!.post_install_script_output,
        },
      ],
    });
    await report([]);
    expect(await upcoming(t, id), "it fails still, not newly").toEqual([]);
    await t.post("/automations/reset", { policy_ids: [policy.id] });
    await runJob(t.services, "policy_actions");
    expect(await upcoming(t, id), "after a reset it counts as newly failing").toHaveLength(1);
    await finish(agent);
    await report([{ "1": "1" }]);
    await t.patch(`/teams/${team.id}/policies/${policy.id}`, { software_title_id: null });
    await report([]);
    expect(await upcoming(t, id)).toEqual([]);
    expect(await t.store.policyInstalls.count()).toBe(0);
  });
});

it("several servers ask each host once, and count each answer once", async () => {
  const t = await startApp({ engine: "postgres" });
  const { titleId } = await world(t);
  const agents = [await makeManaged(t), await makeManaged(t), await makeManaged(t)];
  const policy = await makePolicy(t, { software_title_id: titleId });
  const hostIds = await Promise.all(agents.map(async (agent) => (await agent.host()).id));
  await withSecondServer(t, async (there) => {
    await there.services.running.start(there.services, managedAgents);
    const at = t.clock.iso();
    await t.store.policyInstalls.insertMany(hostIds.map((host_id) => ({ policy_id: policy.id, host_id, at })));
    const servers = [t, there, t, there];
    await Promise.all(servers.map(({ services }) => runJob(services, "policy_actions").catch(() => {})));
    await runJob(t.services, "policy_actions");
    expect(await t.store.softwareInstallRuns.count()).toBe(hostIds.length);
    for (const [i, agent] of agents.entries()) {
      const [install_uuid] = await pending(agent);
      const key = { agent_node_key: agent.key };
      const call = (server: TestApp, path: string, body: object) => agentCall(server, path, { ...key, ...body });
      const details = await Promise.all(servers.map((one) => call(one, "/software_install/details", { install_uuid })));
      expect(details.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const answers = await Promise.all(
        servers.map((one) => call(one, "/software_install/result", { install_uuid, ...done })),
      );
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204]);
      expect(await activitiesOf(t, hostIds[i]!)).toMatchObject([
        { type: "installed_software", details: { install_uuid } },
        { type: "svc_enrolled" },
      ]);
      expect(await t.store.operations.list({ where: eq("uuid", install_uuid!) })).toMatchObject([{ attempts: 1 }]);
    }
  });
});
