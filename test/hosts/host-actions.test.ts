// Lock, unlock and wipe: states, refusals, and the scripts that perform them on Linux and Windows hosts.
import { describe, expect, it } from "vitest";
import { cancelOperation, upcomingOf } from "../../src/server/hosts/operations/upcoming.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";
import { type ManagedAgent, makeManaged } from "../support/managed.ts";

const idOf = async (agent: ManagedAgent) => (await agent.host()).id;

async function stateOf(t: TestApp, id: number) {
  const { host } = (await (await t.get(`/hosts/${id}`)).json()) as { host: { mdm: Record<string, unknown> } };
  const { device_status, pending_action, action_failure } = host.mdm;
  return { device_status, pending_action, ...(action_failure === undefined ? {} : { action_failure }) };
}

async function refused(t: TestApp, id: number, action: string, status: number, reason: RegExp) {
  const before = await t.store.operations.count();
  const res = await t.post(`/hosts/${id}/${action}`);
  const body = (await res.json()) as { errors: { name: string; reason: string }[] };
  expect([res.status, body.errors[0]!.reason]).toEqual([status, expect.stringMatching(reason)]);
  expect(await t.store.operations.count()).toBe(before);
}

const feed = async (t: TestApp, type: string) =>
  ((await (await t.get(`/activities?activity_type=${type}`)).json()) as { activities: Record<string, unknown>[] })
    .activities;

describe.each(rulesEngines)("lock, unlock and wipe on %s", (engine) => {
  it("change a Linux host from unlocked to locked and back, each step by its script's result", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });

    const locked = await t.post(`/hosts/${id}/lock?view_pin=true`);
    expect(await locked.json()).toEqual({ device_status: "unlocked", pending_action: "lock" });
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "lock" });
    expect(await agent.runScript()).toMatch(/^#!\/bin\/sh[\s\S]*passwd -l/);
    expect(await stateOf(t, id)).toEqual({ device_status: "locked", pending_action: "" });
    expect(await agent.pending()).toEqual([]);

    const unlocked = await t.post(`/hosts/${id}/unlock`);
    expect(await unlocked.json()).toEqual({ host_id: id, device_status: "locked", pending_action: "unlock" });
    expect(await agent.runScript()).toMatch(/passwd -u/);
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });

    const wiped = await t.post(`/hosts/${id}/wipe`);
    expect(await wiped.json()).toEqual({ device_status: "unlocked", pending_action: "wipe" });
    await agent.runScript();
    expect(await stateOf(t, id)).toEqual({ device_status: "wiped", pending_action: "" });
  });

  it("are recorded in the feed when requested, and in the host's own list", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const { id, display_name } = await agent.host();
    const details = { host_id: id, host_display_name: display_name };
    await t.post(`/hosts/${id}/lock?view_pin=1`);
    expect(await feed(t, "locked_host")).toEqual([
      expect.objectContaining({ details: { ...details, view_pin: true }, actor_email: "ada@example.com" }),
    ]);
    await agent.runScript();
    await t.post(`/hosts/${id}/unlock`);
    expect((await feed(t, "unlocked_host"))[0]).toMatchObject({ details: { ...details, host_platform: "ubuntu" } });
    await agent.runScript();
    await t.post(`/hosts/${id}/wipe`);
    expect((await feed(t, "wiped_host"))[0]).toMatchObject({ details });
    const own = await t.store.activities.list({ where: { op: "eq", column: "host_id", value: id } });
    expect(own.map(({ type }) => type)).toEqual(["svc_enrolled", "locked_host", "unlocked_host", "wiped_host"]);
  });

  it("keep the state if the script fails, and report its output", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    for (const [exit, said, failure] of [
      [3, "passwd: not found", "the lock script ended with exit code 3: passwd: not found"],
      [-1, "", "the lock script timed out after 300 s, or was killed"],
      [-2, "", "the lock script was not run: scripts are disabled on the host"],
    ] as const) {
      await t.post(`/hosts/${id}/lock`);
      expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "lock" });
      await agent.runScript(exit, said);
      expect(await stateOf(t, id)).toEqual({
        device_status: "unlocked",
        pending_action: "",
        action_failure: failure,
      });
    }
    await t.post(`/hosts/${id}/lock`);
    await agent.runScript();
    await t.post(`/hosts/${id}/unlock`);
    await agent.runScript(1, "no");
    expect(await stateOf(t, id)).toMatchObject({ device_status: "locked", pending_action: "" });
    await t.post(`/hosts/${id}/unlock`);
    await agent.runScript();
    await t.post(`/hosts/${id}/wipe`);
    await agent.runScript(2, `${"x".repeat(50_000)}the end`);
    const { action_failure } = (await stateOf(t, id)) as { action_failure: string };
    expect(action_failure).toMatch(/^the wipe script ended with exit code 2: x+the end$/);
    expect(action_failure.length).toBeLessThan(1_200);
    expect(await feed(t, "failed_wipe")).toEqual([
      expect.objectContaining({ svc_initiated: true, details: expect.objectContaining({ host_id: id }) }),
    ]);
    const runs = await t.store.operations.list();
    expect(runs.at(-1)).toMatchObject({
      state: "failed",
      result: { exit_code: 2, runtime: 2 },
      ended_at: t.clock.iso(),
    });
    expect(runs.at(-1)!.result).toHaveProperty("output.length", 10_000);
  });

  it("are refused if they do not fit the state", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    await refused(t, id, "unlock", 409, /already unlocked/);
    await t.post(`/hosts/${id}/lock`);
    for (const action of ["lock", "unlock", "wipe"]) await refused(t, id, action, 422, /pending lock/);
    await agent.runScript();
    await refused(t, id, "lock", 409, /already locked/);
    // A wipe is possible in any state; a lost device that was locked is not unlocked first.
    await t.post(`/hosts/${id}/wipe`);
    expect(await stateOf(t, id)).toEqual({ device_status: "locked", pending_action: "wipe" });
    await agent.runScript(1, "no");
    expect(await stateOf(t, id)).toMatchObject({ device_status: "locked", pending_action: "" });
    await t.post(`/hosts/${id}/wipe`);
    await agent.runScript();
    expect(await stateOf(t, id)).toEqual({ device_status: "wiped", pending_action: "" });
    await refused(t, id, "lock", 422, /was wiped/);
    await refused(t, id, "wipe", 422, /was wiped/);
    await refused(t, id, "unlock", 409, /already unlocked/);
  });

  it("are refused for unreachable hosts, with the missing requirement", async () => {
    const t = await startApp({ engine });
    const bare = await makeHost(t, { platform: "debian" });
    for (const action of ["lock", "unlock", "wipe"]) await refused(t, bare.id, action, 422, /managed agent/);
    const off = await makeManaged(t);
    await t.store.hosts.updateEach([{ id: await idOf(off), scripts_enabled: false }]);
    for (const action of ["lock", "wipe"]) await refused(t, await idOf(off), action, 422, /scripts enabled/);
    for (const platform of ["darwin", "ios", "ipados"]) {
      const mac = await makeHost(t, { platform });
      for (const action of ["lock", "unlock", "wipe"]) await refused(t, mac.id, action, 422, /MDM turned on/);
    }
    const chrome = await makeHost(t, { platform: "chrome" });
    await refused(t, chrome.id, "lock", 422, /not supported/);
    const unknown = await makeHost(t, { platform: "" });
    await refused(t, unknown.id, "lock", 422, /not supported/);
  });

  it("use scripts to lock and unlock Windows, and device management only to wipe it", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t, { platform: "windows" });
    const id = await idOf(agent);
    await refused(t, id, "wipe", 400, /Windows MDM/);
    await t.post(`/hosts/${id}/lock`);
    expect(await agent.runScript()).toMatch(/Disable-LocalUser/);
    await t.post(`/hosts/${id}/unlock`);
    expect(await agent.runScript()).toMatch(/Enable-LocalUser/);
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });
  });

  it("are refused for a personally owned host with 400", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    await t.store.hostMdm.insert({ id, enrollment_status: "On (personal)" });
    for (const action of ["lock", "unlock", "wipe"]) await refused(t, id, action, 400, /personally owned/);
  });

  it("are premium, except wipe", async () => {
    const t = await startApp({ engine, tier: "free" });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    expect((await t.post(`/hosts/${id}/lock`)).status).toBe(402);
    expect((await t.post(`/hosts/${id}/unlock`)).status).toBe(402);
    expect((await t.post(`/hosts/${id}/wipe`)).status).toBe(200);
  });

  it("require an admin or maintainer of the host's team", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t), await makeTeam(t)];
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    await t.store.hosts.updateEach([{ id, team_id: own.id }]);
    for (const action of ["lock", "unlock", "wipe"]) {
      for (const role of ["observer", "observer_plus", "technician", "gitops"] as const) {
        expect((await (await makeUser(t, role)).post(`/hosts/${id}/${action}`)).status, role).toBe(403);
        const member = await makeUser(t, { teams: [{ id: own.id, role }] });
        expect((await member.post(`/hosts/${id}/${action}`)).status, role).toBe(403);
      }
      const stranger = await makeUser(t, { teams: [{ id: other.id, role: "admin" }] });
      expect((await stranger.post(`/hosts/${id}/${action}`)).status).toBe(404);
      expect((await stranger.post(`/hosts/999999/${action}`)).status).toBe(404);
      expect((await t.as(null).post(`/hosts/${id}/${action}`)).status).toBe(401);
    }
    expect(await t.store.operations.count()).toBe(0);
    const maintainer = await makeUser(t, { teams: [{ id: own.id, role: "maintainer" }] });
    expect((await maintainer.post(`/hosts/${id}/lock`)).status).toBe(200);
    const host = (await t.store.hosts.get(id))!;
    expect((await upcomingOf(t.services, host))[0]).toMatchObject({ actor_id: maintainer.id });
  });

  it("are available under their older paths too", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    expect((await t.post(`/api/latest/svc/mdm/hosts/${id}/lock`)).status).toBe(200);
  });

  it("are shown as upcoming until they ran, and can be cancelled until they started", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const host = await agent.host();
    const ctx = serviceContext(t.services);
    await t.post(`/hosts/${host.id}/lock`);
    const [first] = await upcomingOf(t.services, host);
    expect(first).toEqual({
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: t.clock.iso(),
      type: "locked_host",
      svc_initiated: false,
      actor_id: expect.any(Number),
      actor_full_name: "Ada Admin",
      actor_email: "ada@example.com",
      actor_gravatar: expect.any(String),
      actor_api_only: false,
      details: { host_id: host.id, host_display_name: host.display_name, view_pin: false },
    });
    expect(await agent.pending()).toEqual([first!.uuid]);

    await expect(cancelOperation(ctx, host, "no-such")).rejects.toMatchObject({ status: 404 });
    const other = await makeHost(t);
    await expect(cancelOperation(ctx, other, first!.uuid)).rejects.toMatchObject({ status: 404 });
    await cancelOperation(ctx, host, first!.uuid);
    expect(await upcomingOf(t.services, host)).toEqual([]);
    expect(await agent.pending()).toEqual([]);
    expect(await stateOf(t, host.id)).toEqual({ device_status: "unlocked", pending_action: "" });
    expect((await feed(t, "canceled_run_script"))[0]).toMatchObject({
      details: { host_id: host.id, host_display_name: host.display_name, script_name: "lock" },
    });
    const late = { execution_id: first!.uuid, exit_code: 0, output: "", runtime: 1 };
    expect((await agent.call("/scripts/request", late)).status).toBe(404);
    expect((await agent.call("/scripts/result", late)).status).toBe(200);
    expect(await stateOf(t, host.id)).toEqual({ device_status: "unlocked", pending_action: "" });

    await t.post(`/hosts/${host.id}/lock`);
    const [second] = await agent.pending();
    expect((await agent.call("/scripts/request", { execution_id: second })).status).toBe(200);
    await expect(cancelOperation(ctx, host, second!)).rejects.toMatchObject({ status: 400 });
    expect(await agent.pending(), "until a result arrives").toEqual([second]);
  });

  it("end when the host enrolls again, with either agent; a wiped host becomes active again, a locked one stays locked", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    await t.post(`/hosts/${id}/lock`);
    const [execution_id] = await agent.pending();
    await agent.enroll();
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });
    expect(await agent.pending()).toEqual([]);
    await agent.call("/scripts/result", { execution_id, exit_code: 0 });
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });

    await t.post(`/hosts/${id}/lock`);
    const stock = await t.raw("/api/v1/qengine/enroll", {
      method: "POST",
      body: JSON.stringify({ enroll_secret: "managed-secret", host_identifier: agent.uuid }),
    });
    expect(stock.status).toBe(200);
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });

    await t.post(`/hosts/${id}/lock`);
    await agent.runScript();
    await agent.enroll();
    expect(await stateOf(t, id)).toEqual({ device_status: "locked", pending_action: "" });
    await t.post(`/hosts/${id}/unlock`);
    await agent.runScript();
    await t.post(`/hosts/${id}/wipe`);
    await agent.runScript();
    await agent.enroll();
    expect(await stateOf(t, id)).toEqual({ device_status: "unlocked", pending_action: "" });
  });

  it("accept a result once, and only from the right host", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const stranger = await makeManaged(t);
    const id = await idOf(agent);
    await t.post(`/hosts/${id}/lock`);
    const [execution_id] = await agent.pending();
    // Invalid data beside the exit code is dropped; if it were refused, it would be sent forever, and the lock would
    // never end.
    const result = { execution_id, exit_code: 0, output: null, runtime: -1, timeout: "300" };
    expect((await stranger.call("/scripts/request", { execution_id })).status).toBe(404);
    expect((await stranger.call("/scripts/result", result)).status).toBe(404);
    expect((await agent.call("/scripts/request", { execution_id: "unknown" })).status).toBe(404);
    const missing = await agent.call("/scripts/result", { execution_id });
    expect([missing.status, missing.json.errors[0].name]).toEqual([422, "exit_code"]);
    const fetched = await agent.call("/scripts/request", { execution_id });
    expect(fetched.json).toMatchObject({ host_id: id, execution_id, script_id: null, timeout: 300 });
    expect((await agent.call("/scripts/request", { execution_id })).status, "a lost answer is asked for again").toBe(
      200,
    );
    expect((await agent.call("/scripts/result", result)).status).toBe(200);
    expect((await agent.call("/scripts/result", { ...result, exit_code: 9 })).status).toBe(200);
    expect(await stateOf(t, id)).toEqual({ device_status: "locked", pending_action: "" });
    expect((await t.store.operations.list())[0]).toMatchObject({
      state: "answered",
      attempts: 1,
      result: { exit_code: 0, output: "", runtime: 0 },
    });
  });

  it("leave nothing behind when the host is deleted", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    await t.post(`/hosts/${id}/lock`);
    await t.delete(`/hosts/${id}`);
    expect(await t.store.operations.count()).toBe(0);
    expect(await t.store.hostActions.count()).toBe(0);
  });
});

describe.each(bothEngines)("concurrent locks on %s", (engine) => {
  it("run once, however many request them concurrently", async () => {
    const t = await startApp({ engine });
    const agent = await makeManaged(t);
    const id = await idOf(agent);
    const replies = await Promise.all(Array.from({ length: 8 }, () => t.post(`/hosts/${id}/lock`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(422)]);
    expect(await t.store.operations.count()).toBe(1);
  });
});
