// What agents report about policies, labels and queries that they cannot run is shown where these are shown.
import { describe, expect, it } from "vitest";
import { runJob } from "../../src/server/edge/jobs/start.ts";
import { ERROR_TEXT, ERRORS_OF_HOST, planErrors } from "../../src/server/hosts/query-errors/errors.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { enroll, enrollment, makeSecret, throughApp } from "../edge/agent/agents.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { makeTeam, makeUser } from "../support/make.ts";

const get = async <T>(t: TestApp, path: string): Promise<T> => (await (await t.get(path)).json()) as T;
interface ShownErrors {
  readonly error_host_count: number;
  readonly error_message: string | null;
}

async function agents(t: TestApp, count: number): Promise<string[]> {
  await makeSecret(t);
  const keys: string[] = [];
  for (let i = 0; i < count; i++)
    keys.push(await enroll(throughApp(t), { ...enrollment(), host_identifier: `error-host-${i}` }));
  return keys;
}

/** The answers of an agent: rows, or a message. */
async function answer(t: TestApp, node_key: string, answers: Record<string, number | string>): Promise<void> {
  const entries = Object.entries(answers);
  const reply = await throughApp(t)("/api/v1/qengine/distributed/write", {
    node_key,
    queries: Object.fromEntries(
      entries.map(([name, value]) => [name, typeof value === "number" ? Array(value).fill({ x: "1" }) : []]),
    ),
    statuses: Object.fromEntries(entries.map(([name, value]) => [name, typeof value === "number" ? 0 : 1])),
    messages: Object.fromEntries(
      entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
    ),
    stats: {},
  });
  expect(reply.status).toBe(200);
}

describe.each(bothEngines)("errors of agents on %s", (engine) => {
  it("are shown on the policy, its list and the host, until the agent can run the policy", async () => {
    const t = await startApp({ engine });
    const [first, second] = (await agents(t, 2)) as [string, string];
    const made = await t.post("/global/policies", { name: "p", query: "SELECT 1 FROM no_such_table" });
    const { policy } = (await made.json()) as { policy: ShownErrors & { id: number } };
    expect(policy).toMatchObject({ error_host_count: 0, error_message: null });
    const name = `svc_policy_query_${policy.id}`;
    for (const key of [first, second]) await answer(t, key, { [name]: "no such table: no_such_table" });

    const shown = { error_host_count: 2, error_message: "no such table: no_such_table" };
    expect((await get<{ policy: ShownErrors }>(t, `/global/policies/${policy.id}`)).policy).toMatchObject(shown);
    expect((await get<{ policies: ShownErrors[] }>(t, "/global/policies")).policies).toMatchObject([
      { ...shown, unanswered_host_count: 2 },
    ]);
    const [host] = await t.store.hosts.list({ order: [{ column: "id", direction: "asc" }] });
    const onHost = async () => (await get<{ host: { policies: object[] } }>(t, `/hosts/${host!.id}`)).host.policies;
    expect(await onHost()).toMatchObject([{ response: "", error: "no such table: no_such_table" }]);

    await answer(t, first, { [name]: 1 });
    expect((await get<{ policy: ShownErrors }>(t, `/global/policies/${policy.id}`)).policy.error_host_count).toBe(1);
    expect(await onHost()).toMatchObject([{ response: "pass", error: null }]);
    // The query is corrected.
    expect((await t.patch(`/global/policies/${policy.id}`, { query: "SELECT 1" })).status).toBe(200);
    expect((await get<{ policy: ShownErrors }>(t, `/global/policies/${policy.id}`)).policy).toMatchObject({
      error_host_count: 0,
      error_message: null,
    });
    await answer(t, second, { [name]: "again" });
    await t.post("/global/policies/delete", { ids: [policy.id] });
    expect(await t.store.queryErrors.count()).toBe(0);
  });

  it("are counted over the hosts that the caller may see", async () => {
    const t = await startApp({ engine });
    const [key] = (await agents(t, 1)) as [string];
    const team = await makeTeam(t);
    const observer = await makeUser(t, { teams: [{ id: team.id, role: "observer" }] });
    const made = await t.post("/global/policies", { name: "p", query: "SELECT 1" });
    const { policy } = (await made.json()) as { policy: { id: number } };
    await answer(t, key, { [`svc_policy_query_${policy.id}`]: "a secret of another team" });
    const reply = await observer.get(`/teams/${team.id}/policies?merge_inherited=true`);
    const { policies } = (await reply.json()) as { policies: ShownErrors[] };
    expect(policies).toMatchObject([{ error_host_count: 0, error_message: null }]);
    expect((await get<{ policies: ShownErrors[] }>(t, "/global/policies")).policies[0]!.error_host_count).toBe(1);
  });

  it("are shown on labels, and go when the label's query changes", async () => {
    const t = await startApp({ engine });
    const [key] = (await agents(t, 1)) as [string];
    const made = await t.post("/labels", { name: "broken", query: "SELECT nope FROM osquery_info" });
    const { label } = (await made.json()) as { label: { id: number } };
    await answer(t, key, { [`svc_label_query_${label.id}`]: "no such column: nope" });
    const listed = async () =>
      (await get<{ labels: (ShownErrors & { id: number })[] }>(t, "/labels?per_page=500")).labels.find(
        ({ id }) => id === label.id,
      );
    expect(await listed()).toMatchObject({ error_host_count: 1, error_message: "no such column: nope" });
    expect((await get<{ label: ShownErrors }>(t, `/labels/${label.id}`)).label.error_host_count).toBe(1);
    await answer(t, key, { [`svc_label_query_${label.id}`]: 0 });
    expect(await listed()).toMatchObject({ error_host_count: 0, error_message: null });
  });

  it("of scheduled queries come from the status log, and go when they are not repeated", async () => {
    const t = await startApp({ engine });
    const [key] = (await agents(t, 1)) as [string];
    const made = await t.post("/queries", { name: "Broken: one", query: "SELECT * FROM nope", interval: 60 });
    const { query } = (await made.json()) as { query: { id: number } };
    const log = (message: string) =>
      throughApp(t)("/api/v1/qengine/log", {
        node_key: key,
        log_type: "status",
        data: [{ severity: "2", filename: "scheduler.cpp", line: "1", message, version: "5.12.1" }],
      });
    const shown = async () => (await get<{ query: ShownErrors }>(t, `/queries/${query.id}`)).query;
    await log("Error executing scheduled query pack/Global/Broken: one: no such table: nope");
    expect(await shown()).toMatchObject({ error_host_count: 1, error_message: "no such table: nope" });
    await log("Error executing scheduled query pack/Global/Unknown: no such table: nope");
    expect(await t.store.queryErrors.count()).toBe(1);
    t.clock.advance(hours(1));
    await log("Error executing scheduled query pack/Global/Broken: one: no such table: nope");
    t.clock.advance(hours(1.5));
    await runJob(t.services, "query_errors");
    expect((await shown()).error_host_count).toBe(1);
    t.clock.advance(hours(1));
    await runJob(t.services, "query_errors");
    expect(await shown()).toMatchObject({ error_host_count: 0, error_message: null });
  });

  it("are bounded in length, and in number for a host", async () => {
    const t = await startApp({ engine });
    await agents(t, 1);
    const [host] = await t.store.hosts.list();
    const errors = new Map(Array.from({ length: 1_000 }, (_, i) => [i + 1, "x".repeat(10_000)]));
    const report = { hostId: host!.id, of: "policy_id", errors, succeeded: "all" } as const;
    const plan = await planErrors(t.store, [report], { at: t.clock.iso() });
    expect(plan!.changed).toHaveLength(ERRORS_OF_HOST.max);
    expect(plan!.changed[0]!.message).toHaveLength(ERROR_TEXT.max);
  });
});
