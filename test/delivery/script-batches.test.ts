// Runs of scripts on many hosts.
import { describe, expect, it } from "vitest";
import { settleBatches } from "../../src/server/delivery/scripts/batches/carry-out.ts";
import { hours, minutes } from "../../src/server/platform/core/clock.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeSession, makeTeam, makeUser } from "../support/make.ts";
import { makeManaged } from "../support/managed.ts";
import { withSecondServer } from "../support/second-server.ts";

interface Batch {
  readonly status: string;
  readonly canceled: boolean;
  readonly [key: string]: unknown;
}

async function save(t: TestApp, { name = "tidy.sh", team_id }: { name?: string; team_id?: number } = {}) {
  const body = new FormData();
  if (team_id !== undefined) body.set("team_id", String(team_id));
  body.set("script", new File(["echo tidy"], name));
  const res = await t.post("/scripts", body);
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { script_id: number }).script_id;
}
async function begin(caller: Caller, body: object): Promise<string> {
  const res = await caller.post("/scripts/run/batch", body);
  expect(res.status, await res.clone().text()).toBe(202);
  return ((await res.json()) as { batch_execution_id: string }).batch_execution_id;
}
async function refusal(res: Response): Promise<readonly [number, string, string]> {
  const { errors } = (await res.json()) as { errors: { name: string; reason: string }[] };
  return [res.status, errors[0]!.name, errors[0]!.reason];
}
const get = async (t: TestApp, uuid: string) => (await (await t.get(`/scripts/batch/${uuid}`)).json()) as Batch;
const countsOf = async (t: TestApp, uuid: string) => {
  const batch = await get(t, uuid);
  const states = ["ran", "pending", "errored", "incompatible", "canceled"];
  return Object.fromEntries(
    states.flatMap((state) => {
      const count = batch[`${state}_host_count`];
      return count === 0 ? [] : [[state, count]];
    }),
  );
};
const hostsOf = async (t: TestApp, uuid: string, status: string) =>
  ((await (await t.get(`/scripts/batch/${uuid}/host-results?status=${status}`)).json()) as { hosts: object[] }).hosts;
const queued = async (t: TestApp, uuid: string) =>
  expect.poll(async () => (await t.store.scriptBatches.first({ where: eq("uuid", uuid) }))!.is_queued).toBe(true);
const ended = (t: TestApp, uuid: string) => expect.poll(async () => (await get(t, uuid)).status).toBe("finished");
const feed = async (t: TestApp, type: string) =>
  (await t.store.activities.list({ where: eq("type", type) })).map(({ details }) => details);

describe.each(bothEngines)("batch runs of scripts on %s", (engine) => {
  it("run on hosts that are fixed when they are created, and end with the last answer", async () => {
    const t = await startApp({ engine });
    const [one, two, windows] = [
      await makeManaged(t),
      await makeManaged(t),
      await makeManaged(t, { platform: "windows" }),
    ];
    const bare = await makeHost(t, { platform: "ubuntu", display_name: "bare" });
    const script_id = await save(t);
    const ids = await Promise.all([one, two, windows].map(async (agent) => (await agent.host()).id));
    const uuid = await begin(t, { script_id, host_ids: [...ids, bare.id, ids[0]] });
    await queued(t, uuid);
    await makeManaged(t);
    expect(await get(t, uuid)).toMatchObject({
      script_id,
      script_name: "tidy.sh",
      team_id: null,
      not_before: null,
      status: "started",
      canceled: false,
      targeted_host_count: 4,
      pending_host_count: 2,
      incompatible_host_count: 2,
    });
    expect((await t.delete(`/scripts/${script_id}`)).status, "it is in use").toBe(409);
    expect(await hostsOf(t, uuid, "incompatible")).toEqual([
      expect.objectContaining({ id: bare.id, script_output_preview: expect.stringContaining("managed agent") }),
      expect.objectContaining({ id: ids[2], script_execution_id: null }),
    ]);
    const upcoming = await (await t.get(`/hosts/${ids[0]}/activities/upcoming`)).json();
    expect(upcoming).toMatchObject({ activities: [{ type: "ran_script", details: { batch_execution_id: uuid } }] });
    expect(await one.runScript(0, "x".repeat(500))).toBe("echo tidy");
    expect(await countsOf(t, uuid)).toEqual({ ran: 1, pending: 1, incompatible: 2 });
    await two.runScript(7, "no");
    await ended(t, uuid);
    expect(await countsOf(t, uuid)).toEqual({ ran: 1, errored: 1, incompatible: 2 });
    const [ran] = (await hostsOf(t, uuid, "ran")) as Record<string, string>[];
    expect(ran).toMatchObject({ id: ids[0], script_status: "ran", script_output_preview: "x".repeat(100) });
    expect(await (await t.get(`/scripts/results/${ran!.script_execution_id}`)).json()).toMatchObject({ exit_code: 0 });
    expect((await t.delete(`/scripts/${script_id}`)).status).toBe(204);
    expect(await get(t, uuid)).toMatchObject({ script_id: null, script_name: "tidy.sh", status: "finished" });

    const details = { batch_execution_id: uuid, script_name: "tidy.sh" };
    expect(await feed(t, "ran_script_batch")).toEqual([{ ...details, host_count: 4, team_id: null }]);
    expect(await feed(t, "ran_script")).toEqual([expect.objectContaining(details), expect.objectContaining(details)]);
    const all = (await (await t.get("/activities")).json()) as { activities: { type: string }[] };
    const ofHost = (await (await t.get(`/hosts/${ids[0]}/activities`)).json()) as typeof all;
    expect(all.activities.map(({ type }) => type)).not.toContain("ran_script");
    expect(ofHost.activities.map(({ type }) => type)).toContain("ran_script");
  });

  it("start at their time, on any server, once", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const script_id = await save(t);
    const not_before = new Date(t.clock.now() + hours(1)).toISOString();
    const uuid = await begin(t, { script_id, filters: {}, not_before });
    expect(await get(t, uuid)).toMatchObject({
      status: "scheduled",
      not_before,
      started_at: null,
      pending_host_count: 1,
    });
    expect(await feed(t, "scheduled_script_batch")).toEqual([
      { batch_execution_id: uuid, script_name: "tidy.sh", host_count: 1, team_id: null, not_before },
    ]);
    t.clock.advance(minutes(59));
    await settleBatches(t.services);
    expect(await agent.pending()).toEqual([]);
    t.clock.advance(minutes(2));
    await Promise.all([settleBatches(t.services), settleBatches(t.services)]);
    await expect.poll(() => agent.pending()).toHaveLength(1);
    expect(await feed(t, "ran_script_batch")).toHaveLength(1);
    expect(await t.store.scriptExecutions.count(eq("host_id", id))).toBe(1);
    await agent.runScript();
    await ended(t, uuid);
    expect(await countsOf(t, uuid)).toEqual({ ran: 1 });
  });

  it("are cancelled on the hosts that have not begun", async () => {
    const t = await startApp({ engine });
    const [begun, waiting] = [await makeManaged(t), await makeManaged(t)];
    const host_ids = [(await begun.host()).id, (await waiting.host()).id];
    const script_id = await save(t);
    const uuid = await begin(t, { script_id, host_ids });
    await queued(t, uuid);
    const [execution_id] = await begun.pending();
    await begun.call("/scripts/request", { execution_id });
    expect((await t.post(`/scripts/batch/${uuid}/cancel`)).status).toBe(200);
    expect(await countsOf(t, uuid)).toEqual({ pending: 1, canceled: 1 });
    expect(await waiting.pending()).toEqual([]);
    await begun.call("/scripts/result", { execution_id, output: "", runtime: 1, exit_code: 0, timeout: 300 });
    await ended(t, uuid);
    expect(await get(t, uuid)).toMatchObject({ canceled: true, ran_host_count: 1, canceled_host_count: 1 });
    expect(await feed(t, "canceled_script_batch")).toEqual([
      { batch_execution_id: uuid, script_name: "tidy.sh", host_count: 2, canceled_count: 1 },
    ]);
    expect((await t.post(`/scripts/batch/${uuid}/cancel`)).status, "again").toBe(200);

    const later = await begin(t, { script_id, host_ids, not_before: new Date(t.clock.now() + hours(1)).toISOString() });
    await t.post(`/scripts/batch/${later}/cancel`);
    expect(await get(t, later)).toMatchObject({ status: "finished", canceled: true, canceled_host_count: 2 });
    t.clock.advance(hours(2));
    await settleBatches(t.services);
    expect(await waiting.pending()).toEqual([]);
  });

  it("end for hosts that were deleted, and for those that another server has answered for", async () => {
    const t = await startApp({ engine });
    const [gone, other] = [await makeManaged(t), await makeManaged(t)];
    const host_ids = [(await gone.host()).id, (await other.host()).id];
    const uuid = await begin(t, { script_id: await save(t), host_ids });
    await queued(t, uuid);
    await t.delete(`/hosts/${host_ids[0]}`);
    await other.runScript();
    await settleBatches(t.services);
    expect(await get(t, uuid)).toMatchObject({ status: "finished", ran_host_count: 1, canceled_host_count: 1 });
  });
});

it("batch runs are known to every server", async () => {
  const t = await startApp({ engine: "postgres" });
  const agent = await makeManaged(t);
  const uuid = await begin(t, { script_id: await save(t), host_ids: [(await agent.host()).id] });
  await queued(t, uuid);
  await withSecondServer(t, async (second) => {
    expect((await second.get(`/scripts/batch/${uuid}`)).status).toBe(200);
    await settleBatches(second.services);
    expect((await second.post(`/scripts/batch/${uuid}/cancel`)).status).toBe(200);
  });
  await ended(t, uuid);
  expect(await agent.pending()).toEqual([]);
});

describe.each(rulesEngines)("batch runs on %s", (engine) => {
  it("are refused whole", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const script_id = await save(t);
    const ours = await makeHost(t);
    const theirs = await makeHost(t, { team_id: team.id });
    const post = (body: object) => t.post("/scripts/run/batch", { script_id, ...body });
    expect((await refusal(await post({}))).slice(0, 2)).toEqual([422, "host_ids"]);
    expect((await refusal(await post({ host_ids: [ours.id], filters: {} }))).slice(0, 2)).toEqual([422, "host_ids"]);
    expect((await post({ host_ids: [ours.id, 999_999] })).status).toBe(404);
    expect(await refusal(await post({ host_ids: [ours.id, theirs.id] }))).toEqual([
      422,
      "host_ids",
      expect.stringContaining("different teams"),
    ]);
    expect((await refusal(await post({ filters: { team_id: team.id } }))).slice(0, 2)).toEqual([
      422,
      "filters.team_id",
    ]);
    expect((await refusal(await post({ filters: { query: "nothing matches" } }))).slice(0, 2)).toEqual([
      422,
      "filters",
    ]);
    expect((await post({ script_id: 999, host_ids: [ours.id] })).status).toBe(404);
    expect((await post({ host_ids: [ours.id], not_before: "soon" })).status).toBe(422);
    expect(await t.store.scriptBatches.count()).toBe(0);
    expect((await t.get("/scripts/batch/unknown")).status).toBe(404);
    expect((await t.post("/scripts/batch/unknown/cancel")).status).toBe(404);
  });

  it("start at once if their time is in the past", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const not_before = new Date(t.clock.now() - hours(1)).toISOString();
    const uuid = await begin(t, { script_id: await save(t), filters: { status: "new" }, not_before });
    await expect.poll(() => agent.pending()).toHaveLength(1);
    expect(await get(t, uuid)).toMatchObject({ status: "started", not_before: null });
  });

  it("need the role on the team of the script, also when they start later", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const user = await makeUser(t, { teams: [{ id: own.id, role: "maintainer" }] });
    const caller = t.as(await makeSession(t, user.id));
    const [mine, theirs] = [await save(t, { team_id: own.id }), await save(t, { team_id: other.id })];
    const host = await makeHost(t, { team_id: own.id });
    const foreign = await makeHost(t, { team_id: other.id });
    expect((await caller.post("/scripts/run/batch", { script_id: theirs, host_ids: [foreign.id] })).status).toBe(404);
    expect((await caller.post("/scripts/run/batch", { script_id: mine, host_ids: [foreign.id] })).status).toBe(404);
    const not_before = new Date(t.clock.now() + hours(1)).toISOString();
    const uuid = await begin(caller, { script_id: mine, host_ids: [host.id], not_before });
    const hidden = await begin(t, { script_id: theirs, host_ids: [foreign.id], not_before });
    expect((await caller.get(`/scripts/batch/${hidden}`)).status).toBe(404);
    expect((await caller.post(`/scripts/batch/${hidden}/cancel`)).status).toBe(404);
    await t.delete(`/users/${user.id}`);
    t.clock.advance(hours(2));
    await settleBatches(t.services);
    await ended(t, uuid);
    expect(await countsOf(t, uuid)).toEqual({ canceled: 1 });
    expect(await hostsOf(t, uuid, "canceled")).toEqual([
      expect.objectContaining({ script_output_preview: expect.stringContaining("gone") }),
    ]);
  });

  it("are scheduled and cancelled by maintainers and admins only; technicians run scripts at once", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const script_id = await save(t, { team_id: team.id });
    const host = await makeHost(t, { team_id: team.id });
    const not_before = new Date(t.clock.now() + hours(1)).toISOString();
    const later = { script_id, host_ids: [host.id], not_before };
    const uuid = await begin(t, later);
    for (const role of ["technician", "observer", "gitops"] as const) {
      const user = await makeUser(t, { teams: [{ id: team.id, role }] });
      const runs = { script_id, host_ids: [host.id] };
      expect((await user.post("/scripts/run/batch", later)).status, role).toBe(403);
      expect((await user.post(`/scripts/batch/${uuid}/cancel`)).status, role).toBe(403);
      if (role === "technician") expect((await user.post("/scripts/run/batch", runs)).status).toBe(202);
      else expect((await user.post("/scripts/run/batch", runs)).status, role).toBe(403);
    }
    const maintainer = await makeUser(t, { teams: [{ id: team.id, role: "maintainer" }] });
    expect((await maintainer.post(`/scripts/batch/${uuid}/cancel`)).status).toBe(200);
  });

  it("are listed by team and status, newest first, with their hosts in pages", async () => {
    const t = await startApp({ engine });
    const script_id = await save(t);
    const hosts = [];
    for (const display_name of ["b", "a", "c"]) hosts.push(await makeHost(t, { display_name }));
    const host_ids = hosts.map(({ id }) => id);
    const first = await begin(t, { script_id, host_ids });
    const not_before = new Date(t.clock.now() + hours(1)).toISOString();
    const second = await begin(t, { script_id, host_ids, not_before });
    await queued(t, first);
    await settleBatches(t.services);
    const list = async (query: string) => {
      const reply = (await (await t.get(`/scripts/batch${query}`)).json()) as {
        batch_executions: Batch[];
        count: number;
      };
      return [reply.batch_executions.map(({ batch_execution_id }) => batch_execution_id), reply.count];
    };
    expect(await list("")).toEqual([[second, first], 2]);
    expect(await list("?status=scheduled")).toEqual([[second], 1]);
    expect(await list("?status=finished&per_page=1")).toEqual([[first], 1]);
    expect((await t.get(`/scripts/batch/${first}/host-results`)).status, "status is required").toBe(400);
    const page = async (query: string) =>
      (
        (await (await t.get(`/scripts/batch/${first}/host-results?status=incompatible${query}`)).json()) as {
          hosts: { display_name: string }[];
        }
      ).hosts.map(({ display_name }) => display_name);
    expect(await page("")).toEqual(["a", "b", "c"]);
    expect(await page("&order_key=display_name&order_direction=desc&per_page=2")).toEqual(["c", "b"]);
    expect(await page("&order_key=display_name&after=a")).toEqual(["b", "c"]);
    expect((await t.get(`/scripts/batch/summary/${first}`)).status).toBe(200);
  });
});
