// Policies that run a script on hosts that newly fail them.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { enroll, throughApp } from "../edge/agent/agents.ts";
import { startApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam } from "../support/make.ts";
import { ManagedAgent } from "../support/managed.ts";
import { withSecondServer } from "../support/second-server.ts";

const TEXT = "#!/bin/sh\nrepair\n";

describe.each(bothEngines)("a policy with a script on %s", (engine) => {
  it("runs it once on a host that newly fails, whichever server acts", async () => {
    const t = await startApp({ engine, settings: { max_jitter_percent: 0 } });
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    const agent = await new ManagedAgent(t, { qengine_identifier: "both" }).enroll("team-secret");
    const { id } = await agent.host();
    const send = throughApp(t);
    const node_key = await enroll(send, { enroll_secret: "team-secret", host_identifier: "both" });
    const body = new FormData();
    body.set("team_id", String(team.id));
    body.set("script", new File([TEXT], "repair.sh"));
    const { script_id } = (await (await t.post("/scripts", body)).json()) as { script_id: number };
    const made = await t.post(`/teams/${team.id}/policies`, { name: "Is healthy", query: "SELECT 1", script_id });
    expect(made.status).toBe(200);
    const { policy } = (await made.json()) as { policy: { id: number; run_script: object } };
    expect(policy.run_script).toEqual({ id: script_id, name: "repair.sh" });
    const report = async (rows: object[]) => {
      const name = `svc_policy_query_${policy.id}`;
      const given = { node_key, queries: { [name]: rows }, statuses: { [name]: 0 }, messages: {} };
      expect((await send("/api/v1/qengine/distributed/write", given)).status).toBe(200);
      await runJob(t.services, "policy_actions");
    };
    const upcoming = async () => {
      const reply = await t.get(`/hosts/${id}/activities/upcoming`);
      return ((await reply.json()) as { activities: object[] }).activities;
    };
    await report([{ "1": "1" }]);
    expect(await upcoming()).toEqual([]);
    await report([]);
    const details = { script_name: "repair.sh", policy_id: policy.id, policy_name: "Is healthy" };
    expect(await upcoming()).toMatchObject([{ type: "ran_script", details, svc_initiated: true }]);
    await report([]);
    expect(await agent.runScript(0, "repaired")).toBe(TEXT);
    const [ran] = await t.store.activities.list({ where: eq("type", "ran_script") });
    expect(ran).toMatchObject({ details, svc_initiated: true, host_id: id });
    expect(await upcoming(), "it fails still, not newly").toEqual([]);
    const runs = await t.get(`/policies/${policy.id}/automation_activities`);
    expect(await runs.json()).toMatchObject({
      count: 1,
      activities: [{ id: ran!.id, type: "ran_script", details, host_id: id, status: "success", output: "repaired" }],
    });

    // A reset asks again; two servers at once ask once.
    const reset = async () => void (await t.post("/automations/reset", { policy_ids: [policy.id] }));
    if (engine === "postgres")
      await withSecondServer(t, async (there) => {
        await reset();
        await Promise.all([t, there, t].map(({ services }) => runJob(services, "policy_actions").catch(() => {})));
      });
    else await reset();
    await runJob(t.services, "policy_actions");
    expect(await upcoming()).toHaveLength(1);
    await agent.runScript();

    // The host passes and fails again, but the policy runs nothing any more.
    await report([{ "1": "1" }]);
    expect((await t.delete(`/scripts/${script_id}`)).status, "in use").toBe(409);
    await t.patch(`/teams/${team.id}/policies/${policy.id}`, { script_id: null });
    expect((await t.delete(`/scripts/${script_id}`)).status).toBe(204);
    await report([]);
    expect(await upcoming()).toEqual([]);
    expect(await t.store.policyInstalls.count()).toBe(0);
  });
});
