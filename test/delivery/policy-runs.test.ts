// What automations of policies did on hosts, and the reset of a policy.
import { describe, expect, it } from "vitest";
import type { AutomationActivity, LastAutomation } from "../../src/api/delivery/policy-runs.ts";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { recordActivity } from "../../src/server/platform/activities/record.ts";
import { days, minutes } from "../../src/server/platform/core/clock.ts";
import { serviceContext, within } from "../../src/server/platform/core/context.ts";
import { recordRuns } from "../../src/server/platform/policy-runs/record.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll, throughApp } from "../edge/agent/agents.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeHost, makePolicy, makeResults, makeTeam, makeUser } from "../support/make.ts";

interface Runs {
  readonly activities: readonly AutomationActivity[];
  readonly meta: object;
  readonly count: number;
}
const listed = async (caller: Caller, policyId: number, query = ""): Promise<Runs> => {
  const reply = await caller.get(`/policies/${policyId}/automation_activities${query}`);
  expect(reply.status, await reply.clone().text()).toBe(200);
  return (await reply.json()) as Runs;
};
const hostsOf = ({ activities }: Runs) => activities.map(({ host_id }) => host_id);

/** An automation of the policy sent a webhook about these hosts; with an error, it could not. */
async function ran(t: TestApp, policy: { id: number; name: string }, hostIds: readonly number[], error?: string) {
  t.clock.advance(minutes(1));
  const about = { policy_id: policy.id, policy_name: policy.name };
  await t.store.tx(async (store) => {
    const ctx = within(serviceContext(t.services), store);
    const activityId =
      error === undefined
        ? await recordActivity(ctx, "ran_automation_webhook", { ...about, status_code: 200 })
        : await recordActivity(ctx, "failed_automation_webhook", { ...about, error_response: error });
    await recordRuns(ctx, { policyId: policy.id, hostIds, activityId, isSuccess: error === undefined });
  });
}

describe.each(bothEngines)("runs of policy automations on %s", (engine) => {
  it("are listed by host and attempt, newest first, paged and filtered", async () => {
    const t = await startApp({ engine });
    const policy = await makePolicy(t, { name: "Encrypted" });
    const other = await makePolicy(t);
    const [ada, bob] = [await makeHost(t, { hostname: "ada-mac" }), await makeHost(t, { hostname: "bob-mac" })];
    await ran(t, policy, [ada.id], "the destination answered 500");
    await ran(t, other, [bob.id]);
    await ran(t, policy, [ada.id, bob.id]);
    const all = await listed(t, policy.id);
    expect(all).toMatchObject({ count: 3, meta: { has_next_results: false, has_previous_results: false } });
    expect([...hostsOf(all).slice(0, 2)].sort(), "one activity, two rows").toEqual([ada.id, bob.id]);
    expect(all.activities[2]).toEqual({
      id: expect.any(Number),
      created_at: expect.any(String),
      type: "failed_automation_webhook",
      svc_initiated: true,
      details: { policy_id: policy.id, policy_name: "Encrypted", error_response: "the destination answered 500" },
      host_id: ada.id,
      host_display_name: ada.display_name,
      status: "error",
      output: null,
      pre_install_output: null,
      post_install_output: null,
    });
    expect(hostsOf(await listed(t, policy.id, "?status=error"))).toEqual([ada.id]);
    expect(hostsOf(await listed(t, policy.id, "?query=BOB-M"))).toEqual([bob.id]);
    expect((await listed(t, policy.id, "?query=bob&status=error")).count).toBe(0);
    const oldest = await listed(t, policy.id, "?order_key=created_at&order_direction=asc&per_page=1&page=0");
    expect(oldest.activities.map(({ status }) => status)).toEqual(["error"]);
    expect(oldest).toMatchObject({ count: 3, meta: { has_next_results: true } });
    const path = `/policies/${policy.id}/automation_activities`;
    expect((await t.get(`${path}?order_key=status`)).status).toBe(400);
    expect((await t.get(`${path}?status=pending`)).status).toBe(422);
    expect((await t.get("/policies/999/automation_activities")).status).toBe(404);
  });

  it("show each reader hosts of their own teams only, of policies that they may read", async () => {
    const t = await startApp({ engine });
    const [mine, others] = [await makeTeam(t), await makeTeam(t)];
    const global = await makePolicy(t);
    const [policy, foreign] = [
      await makePolicy(t, { scope: "team", team_id: mine.id }),
      await makePolicy(t, { scope: "team", team_id: others.id }),
    ];
    const [host, moved] = [await makeHost(t, { team_id: mine.id }), await makeHost(t, { team_id: others.id })];
    await ran(t, global, [host.id, moved.id]);
    await ran(t, policy, [host.id, moved.id]);
    await ran(t, foreign, [moved.id]);
    const observer = await makeUser(t, { teams: [{ id: mine.id, role: "observer" }] });
    expect(hostsOf(await listed(observer, global.id))).toEqual([host.id]);
    expect(await listed(observer, policy.id)).toMatchObject({ count: 1, activities: [{ host_id: host.id }] });
    expect((await observer.get(`/policies/${foreign.id}/automation_activities`)).status).toBe(404);
    expect((await observer.get(`/hosts/${host.id}/last_automations`)).status).toBe(200);
    expect((await observer.get(`/hosts/${moved.id}/last_automations`)).status).toBe(404);
    expect((await listed(await makeUser(t, "observer"), policy.id)).count).toBe(2);
  });

  it("a host has the last one of each policy", async () => {
    const t = await startApp({ engine });
    const [first, second] = [await makePolicy(t), await makePolicy(t)];
    const host = await makeHost(t);
    await ran(t, second, [host.id]);
    await ran(t, first, [host.id]);
    await ran(t, second, [host.id, (await makeHost(t)).id], "refused");
    const reply = await t.get(`/hosts/${host.id}/last_automations`);
    const { automations } = (await reply.json()) as { automations: LastAutomation[] };
    expect(automations).toEqual([
      {
        policy_id: first.id,
        policy_name: first.name,
        created_at: expect.any(String),
        type: "ran_automation_webhook",
        status: "success",
        error: null,
      },
      {
        policy_id: second.id,
        policy_name: second.name,
        created_at: t.clock.iso(),
        type: "failed_automation_webhook",
        status: "error",
        error: "refused",
      },
    ]);
  });

  it("go with their host, with expired activities, and after 30 days", async () => {
    const t = await startApp({ engine });
    const policy = await makePolicy(t);
    const [host, gone] = [await makeHost(t), await makeHost(t)];
    await ran(t, policy, [host.id, gone.id]);
    expect((await t.delete(`/hosts/${gone.id}`)).status).toBe(200);
    expect(hostsOf(await listed(t, policy.id))).toEqual([host.id]);
    t.clock.advance(days(20));
    await ran(t, policy, [host.id]);
    t.clock.advance(days(11));
    await runJob(t.services, "policy_run_cleanup");
    expect(await t.store.policyRuns.count()).toBe(1);
    const admin = await makeUser(t, "admin");
    const activity_expiry_settings = { activity_expiry_enabled: true, activity_expiry_window: 5 };
    expect((await admin.patch("/config", { activity_expiry_settings })).status).toBe(200);
    await runJob(t.services, "activity_expiry");
    expect((await listed(admin, policy.id)).activities).toEqual([]);
    await runJob(t.services, "policy_run_cleanup");
    expect(await t.store.policyRuns.count()).toBe(0);
  });
});

describe.each(bothEngines)("the reset of a policy on %s", (engine) => {
  it("deletes its results, so that a host that still fails is newly failing", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    const created = await t.post(`/teams/${team.id}/policies`, { name: "Encrypted", query: "SELECT 1" });
    const { policy } = (await created.json()) as { policy: { id: number } };
    const hook = { enable_failing_policies_webhook: true, destination_url: "https://hooks.example.com/" };
    const webhook_settings = { failing_policies_webhook: { ...hook, policy_ids: [policy.id] } };
    expect((await t.patch(`/teams/${team.id}`, { webhook_settings })).status).toBe(200);
    const send = throughApp(t);
    const node_key = await enroll(send, { enroll_secret: "team-secret", host_identifier: "laptop" });
    const fails = async () => {
      const name = `svc_policy_query_${policy.id}`;
      const report = { node_key, queries: { [name]: [] }, statuses: { [name]: 0 }, messages: {} };
      expect((await send("/api/v1/qengine/distributed/write", report)).status).toBe(200);
    };
    const policyNow = async () => {
      await runJob(t.services, "policy_counts");
      const reply = await t.get(`/teams/${team.id}/policies/${policy.id}`);
      return ((await reply.json()) as { policy: object }).policy;
    };
    await fails();
    expect(await policyNow()).toMatchObject({ failing_host_count: 1, unanswered_host_count: 0 });
    await t.store.policyEvents.delete(eq("policy_id", policy.id));
    await fails();
    expect(await t.store.policyEvents.count(), "it fails still, not newly").toBe(0);

    const reply = await t.post(`/policies/${policy.id}/reset`, {});
    expect([reply.status, await reply.json()]).toEqual([200, {}]);
    const [entry] = await t.store.activities.list({ where: eq("type", "reset_policy") });
    const details = { policy_id: policy.id, policy_name: "Encrypted", team_id: team.id, team_name: team.name };
    expect(entry!.details).toEqual(details);
    expect(await policyNow()).toMatchObject({ failing_host_count: 0, unanswered_host_count: 1 });
    await fails();
    expect(await t.store.policyEvents.count()).toBe(1);
    expect(await policyNow()).toMatchObject({ failing_host_count: 1, unanswered_host_count: 0 });
  });

  it("is for those who may change the policy", async () => {
    const t = await startApp({ engine });
    const [mine, others] = [await makeTeam(t), await makeTeam(t)];
    const global = await makePolicy(t);
    const policy = await makePolicy(t, { scope: "team", team_id: mine.id });
    await makeResults(t, (await makeHost(t, { team_id: mine.id })).id, { failing: [policy, global] });
    const as = (role: "observer" | "technician" | "maintainer", team = mine) =>
      makeUser(t, { teams: [{ id: team.id, role }] });
    const status = async (caller: Caller, id: number) => (await caller.post(`/policies/${id}/reset`, {})).status;
    expect(await status(await as("observer"), policy.id)).toBe(403);
    expect(await status(await as("maintainer", others), policy.id)).toBe(404);
    expect(await status(await as("maintainer"), global.id)).toBe(403);
    expect(await status(await makeUser(t, "observer"), global.id)).toBe(403);
    expect(await t.store.activities.count(eq("type", "reset_policy"))).toBe(0);
    expect(await status(await as("maintainer"), policy.id)).toBe(200);
    expect(await status(await makeUser(t, "maintainer"), global.id)).toBe(200);
    expect(await status(t, 999)).toBe(404);
  });
});
