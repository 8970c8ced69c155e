// Installing and uninstalling packages on hosts: what agents get, and what users see of it.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Package } from "../../src/api/packages.ts";
import type { HostSoftwareItem } from "../../src/api/software.ts";
import { hours } from "../../src/server/core/clock.ts";
import { serviceContext } from "../../src/server/core/context.ts";
import { settleOverdue } from "../../src/server/operations/queue.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeInventory, makeLabel, makeSoftware, makeTeam, makeUser } from "../support/make.ts";
import { type ManagedAgent, makeManaged } from "../support/managed.ts";

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

const json = async (res: Response | Promise<Response>) => (await (await res).json()) as Record<string, unknown>;
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
