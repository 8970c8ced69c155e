// Choices for the setup of hosts, and agents that do what their hosts are asked.
import { expect } from "vitest";
import type { HostSetup, SetupItem } from "../../src/api/delivery/setup-results.ts";
import type { Package } from "../../src/api/software/packages.ts";
import type { TestApp } from "./app.ts";
import type { ManagedAgent } from "./managed.ts";

/** A package that is a script. Returns the id of its title. */
export async function offerScript(t: TestApp, name: string, team = 0, fields: Record<string, string> = {}) {
  const body = new FormData();
  body.set("team_id", String(team));
  for (const [key, value] of Object.entries(fields)) body.set(key, value);
  body.set("software", new File([`echo ${name}`], name));
  const res = await t.post("/software/package", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { software_package: Package }).software_package.title_id;
}

export async function chooseSoftware(t: TestApp, platform: string, ids: readonly number[], team_id = 0) {
  const res = await t.request("PUT", "/setup_experience/software", { platform, team_id, software_title_ids: ids });
  expect(res.status, await res.clone().text()).toBe(200);
}

export async function chooseScript(t: TestApp, name = "setup.sh", text = "echo setup", team = 0) {
  const body = new FormData();
  body.set("team_id", String(team));
  body.set("script", new File([text], name));
  expect((await t.post("/setup_experience/script", body)).status).toBe(200);
}

export interface Results {
  readonly software: readonly SetupItem[];
  readonly script?: SetupItem;
}

/** The reply to an agent that asks for its setup, which begins what comes next. */
export async function statusFor(agent: ManagedAgent, body: Record<string, unknown> = {}): Promise<Results> {
  const { status, json } = await agent.call("/setup_experience/status", body);
  expect(status, JSON.stringify(json)).toBe(200);
  return json.setup_experience_results;
}

export const statesOf = ({ software, script }: Results): string[] =>
  [...software, ...(script ? [script] : [])].map(({ name, status }) => `${name} ${status}`);

export async function setupOf(t: TestApp, hostId: number): Promise<HostSetup> {
  const res = await t.get(`/hosts/${hostId}/setup_experience`);
  expect(res.status).toBe(200);
  return ((await res.json()) as { setup_experience: HostSetup }).setup_experience;
}

export const notified = async (agent: ManagedAgent): Promise<Record<string, unknown>> =>
  (await agent.call("/config")).json.notifications;

/** Installs the first package that waits. Returns its id. */
export async function installNext(agent: ManagedAgent, exitCode = 0): Promise<string> {
  const [install_uuid] = (await notified(agent)).pending_software_installer_ids as string[];
  expect((await agent.call("/software_install/details", { install_uuid })).status).toBe(200);
  const result = { install_uuid, install_script_exit_code: exitCode, install_script_output: "done" };
  expect((await agent.call("/software_install/result", result)).status).toBe(204);
  return install_uuid!;
}
