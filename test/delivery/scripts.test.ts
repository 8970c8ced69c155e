// Scripts: saved ones, their runs by managed agents, and results.
import { describe, expect, it } from "vitest";
import { settleOverdue } from "../../src/server/hosts/operations/queue.ts";
import { hours } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { type Caller, startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeSession, makeTeam, makeUser } from "../support/make.ts";
import { type ManagedAgent, makeManaged } from "../support/managed.ts";
import { json } from "../support/replies.ts";

const TEXT = "#!/bin/sh\necho hello\n";

function form(text: string, name = "hello.sh", team_id?: number): FormData {
  const body = new FormData();
  if (team_id !== undefined) body.set("team_id", String(team_id));
  body.set("script", new File([text], name));
  return body;
}
async function save(t: TestApp, text = TEXT, name = "hello.sh", team_id?: number): Promise<number> {
  const res = await t.post("/scripts", form(text, name, team_id));
  expect(res.status, await res.clone().text()).toBe(200);
  return ((await res.json()) as { script_id: number }).script_id;
}
async function run(t: TestApp, body: object): Promise<string> {
  const res = await t.post("/scripts/run", body);
  expect(res.status, await res.clone().text()).toBe(202);
  return ((await res.json()) as { execution_id: string }).execution_id;
}
const refusal = async (res: Response | Promise<Response>) => {
  const { status } = await res;
  const { errors } = await json<{ errors: { name: string; reason: string }[] }>(res);
  return [status, errors[0]!.name, errors[0]!.reason] as const;
};
const resultOf = (t: TestApp, uuid: string) => json(t.get(`/scripts/results/${uuid}`));
const online = async (t: TestApp, agent: ManagedAgent) => {
  const { id } = await agent.host();
  const online_until = new Date(t.clock.now() + hours(1)).toISOString();
  await t.store.hostSeen.upsert([{ id, seen_time: t.clock.iso(), online_until }], { on: ["id"] });
  return id;
};

describe.each(bothEngines)("scripts on %s", (engine) => {
  it("run on a host in the order in which they were asked for, and their results stay", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id, hostname } = await agent.host();
    const script_id = await save(t);
    const first = await run(t, { host_id: id, script_id });
    const second = await run(t, { host_id: id, script_contents: "echo two" });
    expect(await refusal(t.post("/scripts/run", { host_id: id, script_id }))).toEqual([
      409,
      "base",
      expect.stringContaining("already waiting"),
    ]);
    expect(await resultOf(t, first)).toMatchObject({ exit_code: null, script_id, host_id: id, output: "" });
    expect(await json(t.get(`/hosts/${id}/scripts`))).toMatchObject({
      scripts: [{ script_id, name: "hello.sh", last_execution: { execution_id: first, status: "pending" } }],
    });
    const upcoming = await json<{ activities: { uuid: string; details: object }[] }>(
      t.get(`/hosts/${id}/activities/upcoming`),
    );
    expect(upcoming.activities.map(({ uuid }) => uuid)).toEqual([first, second]);
    expect(upcoming.activities[0]!.details).toMatchObject({ script_name: "hello.sh", async: true });
    expect(await agent.pending()).toEqual([first]);
    const asked = async (execution_id: string) => (await agent.call("/scripts/request", { execution_id })).json;
    expect(await asked(first)).toMatchObject({ script_id, host_id: id, execution_id: first });
    expect(await agent.runScript(0, "hello")).toBe(TEXT);
    expect(await asked(second)).toMatchObject({ script_id: null, script_contents: "echo two" });
    expect(await agent.runScript(3, "two")).toBe("echo two");
    expect(await agent.pending()).toEqual([]);
    expect(await resultOf(t, first)).toMatchObject({
      exit_code: 0,
      output: "hello",
      runtime: 2,
      message: "",
      hostname,
    });
    expect(await resultOf(t, second)).toMatchObject({ exit_code: 3, script_id: null, script_contents: "echo two" });
    const entries = await t.store.activities.list({ where: eq("type", "ran_script") });
    expect(entries.map(({ details }) => details)).toEqual([
      expect.objectContaining({
        script_name: "hello.sh",
        script_execution_id: first,
        async: true,
        batch_execution_id: null,
      }),
      expect.objectContaining({ script_name: "", script_execution_id: second, batch_execution_id: null }),
    ]);
    expect(entries[0]).toMatchObject({ host_id: id, actor_id: 1 });
    await t.delete(`/hosts/${id}`);
    expect(await resultOf(t, first)).toMatchObject({ exit_code: 0, output: "hello", hostname });
    await t.delete(`/scripts/${script_id}`);
    expect(await resultOf(t, first)).toMatchObject({ script_id: null, script_contents: TEXT });
  });

  it("can be waited for while the host is online", async () => {
    const t = await startApp({ engine, settings: { script_sync_period: "10m" } });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    t.clock.advance(hours(48));
    const body = { host_id: id, script_contents: "echo now" };
    expect((await refusal(t.post("/scripts/run/sync", body))).slice(0, 2)).toEqual([422, "host_id"]);
    await online(t, agent);
    const waiting = t.post("/scripts/run/sync", body);
    await expect.poll(() => agent.pending()).toHaveLength(1);
    expect((await t.post("/scripts/run/sync", body)).status, "another one waits").toBe(409);
    await agent.runScript(0, "now");
    const reply = await waiting;
    expect([reply.status, await reply.json()]).toEqual([
      200,
      expect.objectContaining({ exit_code: 0, output: "now", host_timeout: false }),
    ]);
    const [entry] = await t.store.activities.list({ where: eq("type", "ran_script") });
    expect(entry!.details).toMatchObject({ async: false });
  });

  it("answer 408 if the host does not answer in time, and keep their result", async () => {
    const t = await startApp({ engine, settings: { script_sync_period: "1s" } });
    const agent = await makeManaged(t);
    const host_id = await online(t, agent);
    const reply = await t.post("/scripts/run/sync", { host_id, script_contents: "sleep 9" });
    const late = await json<{ execution_id: string }>(reply);
    expect([reply.status, late]).toEqual([408, expect.objectContaining({ exit_code: null, host_timeout: true })]);
    await agent.runScript(0, "late");
    expect(await resultOf(t, late.execution_id)).toMatchObject({ exit_code: 0, output: "late", host_timeout: false });
  });

  it("expand custom variables on the way to the host, and mask them on the way back", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    expect(await refusal(t.post("/scripts", form("echo $SVC_SECRET_TOKEN")))).toEqual([
      422,
      "script",
      expect.stringContaining("$SVC_SECRET_TOKEN"),
    ]);
    const made = await json<{ id: number }>(t.post("/custom_variables", { name: "TOKEN", value: "very-secret-1" }));
    const script_id = await save(t, "echo $SVC_SECRET_TOKEN");
    const uuid = await run(t, { host_id: id, script_id });
    expect((await t.delete(`/custom_variables/${made.id}`)).status, "in use").toBe(409);
    expect(await agent.runScript(0, `it is very-secret-1 ${"x".repeat(9_995)}`)).toBe("echo very-secret-1");
    const { output, script_contents } = (await resultOf(t, uuid)) as { output: string; script_contents: string };
    expect(script_contents).toBe("echo $SVC_SECRET_TOKEN");
    expect(output).toHaveLength(10_000);
    expect(output).not.toContain("secret-1");
    expect(JSON.stringify(await t.store.operations.list())).not.toContain("secret-1");
    await t.delete(`/scripts/${script_id}`);
    expect((await t.delete(`/custom_variables/${made.id}`)).status).toBe(200);
  });

  it("can be cancelled before they start, and end when the host does not answer", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const script_id = await save(t);
    const uuid = await run(t, { host_id: id, script_id });
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${uuid}`)).status).toBe(204);
    expect(await resultOf(t, uuid)).toMatchObject({ exit_code: null, message: expect.stringContaining("cancelled") });
    expect(await agent.pending()).toEqual([]);
    const [cancelled] = await t.store.activities.list({ where: eq("type", "canceled_run_script") });
    expect(cancelled!.details).toMatchObject({ script_name: "hello.sh" });
    const next = await run(t, { host_id: id, script_id });
    const { status } = await agent.call("/scripts/request", { execution_id: next });
    expect(status).toBe(200);
    expect((await t.delete(`/hosts/${id}/activities/upcoming/${next}`)).status, "it has started").toBe(400);
    t.clock.advance(hours(3));
    await settleOverdue(serviceContext(t.services), new AbortController().signal);
    expect(await resultOf(t, next)).toMatchObject({ exit_code: -1 });
    await agent.call("/scripts/result", { execution_id: next, output: "late", runtime: 1, exit_code: 0 });
    expect(await resultOf(t, next), "a late answer counts").toMatchObject({ exit_code: 0, output: "late" });
    const lost = await run(t, { host_id: id, script_id });
    await t.delete(`/hosts/${id}`);
    expect(await resultOf(t, lost)).toMatchObject({ message: expect.stringContaining("cancelled") });
  });

  it("of a team that their host has not begun are cancelled when it moves to another team", async () => {
    const t = await startApp({ engine });
    const [lab, desk] = [await makeTeam(t, "Lab"), await makeTeam(t, "Desk")];
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const move = async (team_id: number) =>
      expect((await t.post("/hosts/transfer", { team_id, hosts: [id] })).status).toBe(200);
    await move(lab.id);
    const script_id = await save(t, TEXT, "hello.sh", lab.id);
    const begun = await run(t, { host_id: id, script_id });
    await agent.call("/scripts/request", { execution_id: begun });
    const other = await save(t, TEXT, "other.sh", lab.id);
    const saved = await run(t, { host_id: id, script_id: other });
    const text = await run(t, { host_id: id, script_contents: "echo two" });
    await move(lab.id);
    expect(await resultOf(t, saved), "it has not moved").toMatchObject({ message: expect.stringContaining("as soon") });
    await move(desk.id);
    expect(await resultOf(t, saved)).toMatchObject({ exit_code: null, message: expect.stringContaining("cancelled") });
    const cancelled = await t.store.activities.list({ where: eq("type", "canceled_run_script") });
    expect(cancelled).toEqual([expect.objectContaining({ host_id: id, actor_id: 1 })]);
    expect(cancelled[0]!.details).toMatchObject({ host_id: id, script_name: "other.sh" });
    await agent.call("/scripts/result", { execution_id: begun, output: "", runtime: 1, exit_code: 0 });
    expect(await resultOf(t, begun), "it had begun").toMatchObject({ exit_code: 0 });
    expect(await agent.pending(), "a text belongs to its host").toEqual([text]);
    const last = await run(t, { host_id: id, script_id: await save(t, TEXT, "desk.sh", desk.id) });
    expect((await t.delete(`/teams/${desk.id}`)).status).toBe(200);
    expect(await resultOf(t, last)).toMatchObject({ message: expect.stringContaining("cancelled") });
    expect(await agent.pending()).toEqual([text]);
  });

  it("do not run if they were asked for while their host was being moved", async () => {
    const t = await startApp({ engine });
    const lab = await makeTeam(t, "Lab");
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const uuid = await run(t, { host_id: id, script_id: await save(t) });
    // The request looks committed between the move's search for waiting scripts and its end.
    await t.store.hosts.update({ where: eq("id", id), set: { team_id: lab.id } });
    expect(await agent.runScript(1, "not run")).toMatch(/not run: the host was moved to another team/);
    expect(await resultOf(t, uuid)).toMatchObject({ exit_code: 1, script_contents: TEXT });
  });

  it("are taken by another server than the one that was asked", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const all = await Promise.all(
      Array.from({ length: 5 }, (_, i) => run(t, { host_id: id, script_contents: `echo ${i}` })),
    );
    const texts = [];
    for (let i = 0; i < 5; i++) texts.push(await agent.runScript(0, String(i)));
    expect(new Set(texts).size).toBe(5);
    for (const uuid of all) expect(await resultOf(t, uuid)).toMatchObject({ exit_code: 0 });
  });
});

describe.each(rulesEngines)("saved scripts on %s", (engine) => {
  it("are kept by team, with Unix line ends, and named once", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "A");
    const id = await save(t, "echo a\r\necho b\r\n");
    const other = await save(t, TEXT, "hello.sh", team.id);
    expect(await refusal(t.post("/scripts", form(TEXT)))).toEqual([409, "script", expect.stringContaining("hello.sh")]);
    expect(await refusal(t.post("/scripts", form(TEXT, "x.sh", 999)))).toEqual([404, "team_id", expect.any(String)]);
    const file = await t.get(`/scripts/${id}?alt=media`);
    expect(file.headers.get("content-disposition")).toMatch(/^attachment; filename="\d{4}-\d\d-\d\d hello\.sh"$/);
    expect(await file.text()).toBe("echo a\necho b\n");
    expect(await json(t.get(`/scripts/${other}`))).toMatchObject({ id: other, team_id: team.id, name: "hello.sh" });
    expect(await json(t.get(`/scripts?team_id=${team.id}`))).toMatchObject({ scripts: [{ id: other }] });
    await save(t, TEXT, "a.py");
    expect(await json(t.get("/scripts?order_key=name&per_page=1&after=a.py"))).toMatchObject({
      scripts: [{ id }],
      meta: { has_next_results: false },
    });
    const changed = await t.patch(`/scripts/${id}`, form("echo c", "other-name.sh"));
    expect([changed.status, await changed.json()]).toEqual([200, expect.objectContaining({ name: "hello.sh" })]);
    expect(await (await t.get(`/scripts/${id}?alt=media`)).text()).toBe("echo c");
    expect((await t.delete(`/scripts/${id}`)).status).toBe(204);
    expect((await t.get(`/scripts/${id}`)).status).toBe(404);
    const types = (await t.store.activities.list()).map(({ type }) => type).filter((type) => type.endsWith("_script"));
    expect(types).toEqual(["added_script", "added_script", "added_script", "updated_script", "deleted_script"]);
  });

  it("are refused with the reason", async () => {
    const t = await startApp({ engine });
    for (const [body, reason] of [
      [form("echo", "x.txt"), ".sh, .py, .ps1"],
      [form(" \n"), "empty"],
      [form("#!/usr/bin/perl\n"), "interpreter"],
      [form("a\0b"), "binary"],
    ] as const)
      expect(await refusal(t.post("/scripts", body)), reason).toEqual([422, "script", expect.stringContaining(reason)]);
    const bytes = new FormData();
    bytes.set("script", new File([new Uint8Array([0xff, 0xfe, 0x00])], "x.sh"));
    expect((await t.post("/scripts", bytes)).status).toBe(422);
    expect((await t.post("/scripts", new FormData())).status).toBe(400);
    const id = await save(t);
    await t.store.policies.insert({
      created_at: t.clock.iso(),
      updated_at: t.clock.iso(),
      scope: "global",
      team_id: null,
      name: "runs it",
      query: "SELECT 1",
      author_id: null,
      software_title_id: null,
      script_id: id,
      result_id: 9_001,
    } as never);
    expect(await refusal(t.delete(`/scripts/${id}`))).toEqual([409, "base", expect.stringContaining("runs it")]);
  });

  it("do not run while they are disabled, also if they were asked for before", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const host_id = (await agent.host()).id;
    const script_id = await save(t);
    const waiting = await run(t, { host_id, script_id });
    const disable = (scripts_disabled: boolean) => t.patch("/config", { server_settings: { scripts_disabled } });
    expect((await disable(true)).status).toBe(200);
    for (const [path, body] of [
      ["/scripts/run", { host_id, script_contents: "echo" }],
      ["/scripts/run/sync", { host_id, script_contents: "echo" }],
      ["/scripts/run/batch", { script_id, host_ids: [host_id] }],
    ] as const) {
      const reply = await t.post(path, body);
      expect([reply.status, JSON.stringify(await reply.json())], path).toEqual([
        403,
        expect.stringContaining("running scripts is disabled"),
      ]);
    }
    expect(await agent.runScript(1, "not run: scripts are disabled")).toMatch(
      /^#!\/bin\/sh\necho 'not run: scripts are/,
    );
    expect(await resultOf(t, waiting)).toMatchObject({ exit_code: 1, script_contents: TEXT });
    await disable(false);
    await run(t, { host_id, script_id });
    expect(await agent.runScript()).toBe(TEXT);
  });

  it("run only where they can", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t, "A");
    const agent = await makeManaged(t);
    const host_id = (await agent.host()).id;
    const [plain, foreign, powershell] = [
      await save(t),
      await save(t, TEXT, "hello.sh", team.id),
      await save(t, "Get-Date", "date.ps1"),
    ];
    const bare = (await makeHost(t, { platform: "ubuntu" })).id;
    const cases: [object, number, string][] = [
      [{ host_id }, 422, "script_id"],
      [{ host_id, script_id: plain, script_contents: "x" }, 422, "script_contents"],
      [{ host_id, script_id: 99_999 }, 404, "script_id"],
      [{ host_id, script_id: foreign }, 422, "script_id"],
      [{ host_id, script_id: powershell }, 422, "script_id"],
      [{ host_id, script_name: "no.sh" }, 422, "script_name"],
      [{ host_id, script_contents: "x".repeat(10_000) }, 422, "script_contents"],
      [{ host_id, script_contents: "echo $SVC_SECRET_NO" }, 422, "script_contents"],
      [{ host_id: bare, script_id: plain }, 422, "host_id"],
    ];
    for (const [body, status, name] of cases)
      expect((await refusal(t.post("/scripts/run", body))).slice(0, 2), JSON.stringify(body)).toEqual([status, name]);
    expect((await t.post("/scripts/run", { host_id: 99_999, script_id: plain })).status).toBe(404);
    await run(t, { host_id, script_name: "hello.sh" });
    await t.store.hosts.update({ where: eq("id", host_id), set: { scripts_enabled: false } });
    expect((await refusal(t.post("/scripts/run", { host_id, script_contents: "x" }))).slice(0, 2)).toEqual([
      422,
      "host_id",
    ]);
    expect((await t.get("/scripts/results/unknown")).status).toBe(404);
  });

  it("show results to those who may see the host", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    const agent = await makeManaged(t);
    const host_id = (await agent.host()).id;
    await t.post("/hosts/transfer", { team_id: a.id, hosts: [host_id] });
    const as = async (team: number, role: "observer" | "maintainer"): Promise<Caller> => {
      const user = await makeUser(t, { teams: [{ id: team, role }] });
      return t.as(await makeSession(t, user.id));
    };
    const [maintainer, observer, stranger] = [
      await as(a.id, "maintainer"),
      await as(a.id, "observer"),
      await as(b.id, "maintainer"),
    ];
    const body = { host_id, script_contents: "echo" };
    expect((await observer.post("/scripts/run", body)).status).toBe(403);
    expect((await stranger.post("/scripts/run", body)).status).toBe(404);
    const reply = await maintainer.post("/scripts/run", body);
    const { execution_id } = await json<{ execution_id: string }>(reply);
    await agent.runScript();
    const seen = async () =>
      Promise.all([observer, stranger].map(async (who) => (await who.get(`/scripts/results/${execution_id}`)).status));
    expect(await seen()).toEqual([200, 404]);
    await t.delete(`/hosts/${host_id}`);
    expect(await seen()).toEqual([200, 404]);
  });

  it("do not show the text of a saved script to the team that the host has moved to", async () => {
    const t = await startApp({ engine });
    const [a, b] = [await makeTeam(t, "A"), await makeTeam(t, "B")];
    const agent = await makeManaged(t);
    const host_id = (await agent.host()).id;
    await t.post("/hosts/transfer", { team_id: a.id, hosts: [host_id] });
    const script_id = await save(t, TEXT, "hello.sh", a.id);
    const { execution_id } = await json<{ execution_id: string }>(t.post("/scripts/run", { host_id, script_id }));
    await agent.runScript();
    await t.post("/hosts/transfer", { team_id: b.id, hosts: [host_id] });
    const user = await makeUser(t, { teams: [{ id: b.id, role: "admin" }] });
    const contentsFor = async (who: Pick<TestApp, "get">) =>
      (await json<{ script_contents: string }>(who.get(`/scripts/results/${execution_id}`))).script_contents;
    expect(await contentsFor(user)).toBe("");
    expect(await contentsFor(t)).not.toBe("");
  });
});
