// Policies that send profiles again, whose automations run at each failing answer, and that need all of several labels.
import { describe, expect, it } from "vitest";
import type { Policy } from "../../src/api/checks/policies.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { bothEngines } from "../support/engines.ts";
import { makeLabel, makeTeam, makeUser } from "../support/make.ts";
import { ManagedAgent } from "../support/managed.ts";
import { mobileconfig, profileForm } from "../support/profiles.ts";

/** A host of a team with both agents. */
async function hostOf(t: TestApp, team: number) {
  await t.patch(`/teams/${team}/secrets`, { secrets: [{ secret: "team-secret" }] });
  const agent = await new ManagedAgent(t).enroll("team-secret");
  const { id, uuid } = await agent.host();
  const send = throughApp(t);
  const node_key = await enroll(send, { enroll_secret: "team-secret", host_identifier: uuid });
  /** The host answers policies, by their ids: whether it passes. */
  const answer = async (answers: Readonly<Record<number, boolean>>) => {
    const by = <V>(value: (passes: boolean) => V) =>
      Object.fromEntries(Object.entries(answers).map(([one, passes]) => [`svc_policy_query_${one}`, value(passes)]));
    const queries = by((passes) => (passes ? [{ "1": "1" }] : []));
    const given = { node_key, queries, statuses: by(() => 0), messages: {} };
    expect((await send("/api/v1/qengine/distributed/write", given)).status).toBe(200);
    await runJob(t.services, "policy_actions");
  };
  return { id, agent, answer };
}

const start = (engine: (typeof bothEngines)[number]) => startApp({ engine, settings: { max_jitter_percent: 0 } });
const create = async (t: TestApp, team: number, more: object): Promise<Policy> => {
  const reply = await t.post(`/teams/${team}/policies`, { name: "P", query: "SELECT 1", ...more });
  expect(reply.status, await reply.clone().text()).toBe(200);
  return ((await reply.json()) as { policy: Policy }).policy;
};
const reasonOf = async (reply: Response) => {
  const { errors } = (await reply.json()) as { errors: { name: string; reason: string }[] };
  return [reply.status, errors[0]!.name, errors[0]!.reason];
};

describe.each(bothEngines)("what policies do with hosts on %s", (engine) => {
  it("sends a profile again that has arrived, and not one that is on its way", async () => {
    const t = await start(engine);
    // The reconciler would set the state of the host's profile, too.
    await t.services.running.of(profileReconciler).stop();
    await turnOnAppleMdm(t);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const upload = async (name: string, team_id: number) => {
      const form = profileForm(mobileconfig(undefined, "", name), { team_id: String(team_id) }, "wifi.mobileconfig");
      return ((await (await t.post("/configuration_profiles", form)).json()) as { profile_uuid: string }).profile_uuid;
    };
    const [uuid, foreign] = [await upload("Wi-Fi", team.id), await upload("VPN", other.id)];
    const field = "resend_profile_uuid";
    for (const one of [foreign, "nothing"])
      expect(
        await reasonOf(await t.post(`/teams/${team.id}/policies`, { name: "P", query: "SELECT 1", [field]: one })),
      ).toEqual([400, field, `policy payload verification: configuration profile ${one} does not exist in the team`]);
    expect(await reasonOf(await t.post("/global/policies", { name: "P", query: "SELECT 1", [field]: uuid }))).toEqual([
      400,
      field,
      `policy payload verification: ${field} cannot be set on a global policy`,
    ]);
    const policy = await create(t, team.id, { [field]: uuid, continuous_automations_enabled: true });
    expect(policy.resend_configuration_profile).toEqual({ profile_uuid: uuid, name: "Wi-Fi" });

    const host = await hostOf(t, team.id);
    const where = eq("host_id", host.id);
    await t.store.hostProfiles.insert({
      host_id: host.id,
      profile_uuid: uuid,
      platform: "darwin",
      name: "Wi-Fi",
      operation_type: "install",
      status: "verified",
    });
    const resent = () => t.store.activities.list({ where: eq("type", "resent_configuration_profile") });
    await host.answer({ [policy.id]: false });
    expect(await t.store.hostProfiles.first({ where })).not.toMatchObject({ status: "verified" });
    expect(await resent()).toMatchObject([
      {
        host_id: host.id,
        svc_initiated: true,
        details: { profile_name: "Wi-Fi", profile_uuid: uuid, policy_id: policy.id, policy_name: "P" },
      },
    ]);
    await t.store.hostProfiles.update({ where, set: { status: "pending" } });
    await host.answer({ [policy.id]: false });
    expect(await resent(), "it is still on its way").toHaveLength(1);
    await t.store.hostProfiles.update({ where, set: { status: "failed" } });
    await host.answer({ [policy.id]: false });
    await expect.poll(resent).toHaveLength(2);

    expect(await reasonOf(await t.delete(`/configuration_profiles/${uuid}`))).toEqual([
      409,
      "base",
      'the policy "P" sends the profile "Wi-Fi" again: change it first',
    ]);
    const changed = await t.patch(`/teams/${team.id}/policies/${policy.id}`, { [field]: null });
    expect(((await changed.json()) as { policy: Policy }).policy.resend_configuration_profile).toBeUndefined();
    expect((await t.delete(`/configuration_profiles/${uuid}`)).status).toBe(200);
  });

  it("follows a profile that another one of the same name replaces, and drops one that is gone", async () => {
    const t = await start(engine);
    await turnOnAppleMdm(t);
    const team = await makeTeam(t);
    const put = (...contents: string[]) =>
      t.post(`/configuration_profiles/batch?team_id=${team.id}`, {
        configuration_profiles: contents.map((one) => ({ profile: Buffer.from(one).toString("base64") })),
      });
    expect((await put(mobileconfig("com.example.a", "", "Wi-Fi"))).status).toBe(204);
    const uuidOf = async () =>
      (await t.store.configurationProfiles.first({ where: eq("team_id", team.id) }))?.uuid ?? null;
    const before = (await uuidOf())!;
    const policy = await create(t, team.id, { resend_profile_uuid: before });
    expect((await put(mobileconfig("com.example.b", "", "Wi-Fi"))).status).toBe(204);
    const after = await uuidOf();
    expect(after).not.toBe(before);
    expect(await t.store.policies.get(policy.id)).toMatchObject({ resend_profile_uuid: after });
    expect((await put()).status).toBe(204);
    expect(await t.store.policies.get(policy.id)).toMatchObject({ resend_profile_uuid: null });
  });

  it("runs a script at each failing answer if automations are continuous, and never twice at a time", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const form = new FormData();
    form.set("team_id", String(team.id));
    form.set("script", new File(["#!/bin/sh\nrepair\n"], "repair.sh"));
    const { script_id } = (await (await t.post("/scripts", form)).json()) as { script_id: number };
    const once = await create(t, team.id, { name: "Once", script_id });
    const host = await hostOf(t, team.id);
    await host.answer({ [once.id]: false });
    await host.agent.runScript();
    await host.answer({ [once.id]: false });
    expect(await host.agent.pending()).toEqual([]);

    const changed = { continuous_automations_enabled: true };
    expect((await t.patch(`/teams/${team.id}/policies/${once.id}`, changed)).status).toBe(200);
    await host.answer({ [once.id]: false });
    expect(await host.agent.pending()).toHaveLength(1);
    await host.answer({ [once.id]: false });
    expect(await host.agent.pending(), "the last one is still waiting").toHaveLength(1);
    await host.agent.runScript();
    await host.answer({ [once.id]: false });
    expect(await host.agent.pending()).toHaveLength(1);
    await host.agent.runScript();
    await host.answer({ [once.id]: true });
    expect(await host.agent.pending()).toEqual([]);
    expect(await t.store.policyInstalls.count()).toBe(0);
  });

  it("reports a host to the webhook at each failing answer if automations are continuous", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const policy = await create(t, team.id, { continuous_automations_enabled: true });
    const hook = {
      enable_failing_policies_webhook: true,
      destination_url: "https://hooks.example.com/x",
      policy_ids: [policy.id],
    };
    const reply = await t.patch(`/teams/${team.id}`, { webhook_settings: { failing_policies_webhook: hook } });
    expect(reply.status).toBe(200);
    const host = await hostOf(t, team.id);
    await host.answer({ [policy.id]: false });
    expect(await t.store.policyEvents.count()).toBe(1);
    await host.answer({ [policy.id]: false });
    expect(await t.store.policyEvents.count(), "not reported yet").toBe(1);
    await t.store.policyEvents.delete(eq("policy_id", policy.id));
    await host.answer({ [policy.id]: false });
    expect(await t.store.policyEvents.count()).toBe(1);
  });

  it("concerns only hosts with all of the labels, for policies and queries", async () => {
    const t = await start(engine);
    const team = await makeTeam(t);
    const [a, b] = [await makeLabel(t, "A"), await makeLabel(t, "B")];
    const labels_include_all = ["A", "B"];
    const policy = await create(t, team.id, { labels_include_all });
    expect(policy.labels_include_all?.map(({ name }) => name)).toEqual(["A", "B"]);
    expect(policy.labels_include_any).toBeUndefined();
    const both = { name: "Q", query: "SELECT 1", labels_include_all, labels_include_any: ["A"] };
    expect(await reasonOf(await t.post(`/teams/${team.id}/policies`, both))).toEqual([
      400,
      "labels_include_all",
      "policy payload verification: only one of labels_include_any and labels_include_all may be given",
    ]);
    expect(await reasonOf(await t.post("/queries", both))).toEqual([
      400,
      "labels_include_all",
      "only one of labels_include_any and labels_include_all may be given",
    ]);
    const query = { name: "Q", query: "SELECT 2", interval: 60, team_id: team.id, labels_include_all };
    const made = (await (await t.post("/queries", query)).json()) as { query: { labels_include_all: object[] } };
    expect(made.query.labels_include_all).toMatchObject([{ name: "A" }, { name: "B" }]);

    const host = await hostOf(t, team.id);
    const member = (label: { id: number }) => t.store.labelMembers.insert({ label_id: label.id, host_id: host.id });
    const hasPolicy = async () =>
      ((await (await t.get(`/hosts/${host.id}`)).json()) as { host: { policies: object[] } }).host.policies.length > 0;
    await member(a);
    expect(await hasPolicy()).toBe(false);
    await member(b);
    expect(await hasPolicy()).toBe(true);
    await t.patch(`/teams/${team.id}/policies/${policy.id}`, { labels_include_any: ["A"] });
    expect(await t.store.policyLabels.list({})).toMatchObject([{ label_id: a.id, requires_all: false }]);
  });

  it("is set only by those who may write policies of the team", async () => {
    const t = await start(engine);
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const policy = await create(t, team.id, {});
    const change = { continuous_automations_enabled: true };
    const path = `/teams/${team.id}/policies/${policy.id}`;
    for (const role of ["observer", "observer_plus"] as const) {
      const user = await makeUser(t, { teams: [{ id: team.id, role }] });
      expect((await user.patch(path, change)).status).toBe(403);
    }
    const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
    expect([403, 404]).toContain((await stranger.patch(path, change)).status);
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await maintainer.patch(path, change)).status).toBe(200);
  });
});
