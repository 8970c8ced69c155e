// Machines that were cloned with their agent: two with one key, or with one hardware UUID.
import { describe, expect, it } from "vitest";
import {
  judge,
  judgeEnrollment,
  noMachine,
  type StoredMachine,
} from "../../../src/server/hosts/managed-agents/machines.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { addSecret, agentCall, ManagedAgent } from "../../support/managed.ts";

const UUID = "0A0A0A0A-0000-4000-8000-000000000001";
const machine = (run: string, hardware_uuid = UUID) => ({ agent_machine: { run, hardware_uuid } });

describe("the runs of an agent", () => {
  const T0 = Date.parse("2026-01-01T00:00:00Z");
  /** Judges calls of runs, each a minute after the one before. */
  const verdicts = (...runs: string[]) => {
    let machine: StoredMachine = noMachine;
    return runs.map((run, i) => {
      const [verdict, next] = judge(machine, { run, hardware_uuid: UUID }, T0 + i * 60_000);
      machine = next;
      return verdict;
    });
  };

  it("may follow each other, as after restarts", () => {
    expect(verdicts("a", "a", "b", "b", "c", "c")).toEqual(["starts", "same", "starts", "same", "starts", "same"]);
  });

  it("are two machines if one comes back: the first one keeps the key, however often the other one calls", () => {
    expect(verdicts("a", "b", "a", "b", "a", "b")).toEqual(["starts", "starts", "returns", "copy", "same", "copy"]);
  });

  it("leave one machine of many that start at the same time", () => {
    expect(verdicts("a", "b", "c", "a", "b", "c", "a", "c", "b")).toEqual([
      ...["starts", "starts", "starts", "returns", "copy", "copy", "same", "copy", "copy"],
    ]);
  });

  it("count as ended while a last request may still be under way", () => {
    const [, a] = judge(noMachine, { run: "a", hardware_uuid: UUID }, T0);
    const [, b] = judge(a, { run: "b", hardware_uuid: UUID }, T0 + 60_000);
    expect(judge(b, { run: "a", hardware_uuid: UUID }, T0 + 69_999)).toEqual(["late", b]);
    expect(judge(b, { run: "a", hardware_uuid: UUID }, T0 + 70_000)[0]).toBe("returns");
    expect(judgeEnrollment(b, { run: "a", hardware_uuid: UUID }, T0 + 60_001)[0]).toBe("returns");
  });

  it("are forgotten when there are many", () => {
    let machine = noMachine;
    for (let i = 0; i < 200; i++) [, machine] = judge(machine, { run: `r${i}`, hardware_uuid: UUID }, T0 + i * 60_000);
    expect(machine.runs).toHaveLength(64);
    expect(machine.runs.at(-1)).toEqual({ run: "r199", replaced_at: null });
  });

  it("have a hardware UUID, in any letter case, that calls must have and an enrollment may change", () => {
    const [, a] = judge(noMachine, { run: "a", hardware_uuid: UUID }, T0);
    expect(judge(a, { run: "a", hardware_uuid: UUID.toLowerCase() }, T0)[0]).toBe("same");
    expect(judge(a, { run: "b", hardware_uuid: "OTHER" }, T0)).toEqual(["other hardware", a]);
    expect(judgeEnrollment(a, { run: "b", hardware_uuid: "OTHER" }, T0)[1]).toEqual({
      hardware_uuid: "OTHER",
      runs: [{ run: "b", replaced_at: null }],
    });
  });
});

describe.each(bothEngines)("a machine that was cloned with its agent, on %s", (engine) => {
  /** The key of the machine `a`, after the machine `b` with the same key has started. */
  async function twoMachines(t: TestApp) {
    await addSecret(t);
    const agent = await new ManagedAgent(t, { hardware_uuid: UUID, hostname: "original" }).enroll();
    const call = (run: string, path = "/config", body = {}) => agent.call(path, { ...machine(run), ...body });
    expect((await call("a")).status).toBe(200);
    expect((await call("b")).status).toBe(200);
    t.clock.advance(30_000);
    return { agent, call, host: await agent.host() };
  }

  const activitiesOf = async (t: TestApp) => {
    const reply = await t.get("/activities?activity_type=host_enrollment_rejected");
    return ((await reply.json()) as { activities: { details: { host_id: number; reason: string } }[] }).activities;
  };

  it("leaves the host to the original, which gets its page and its inventory back", async () => {
    const t = await startApp({ engine });
    const { call, host } = await twoMachines(t);
    await t.store.hosts.update({
      where: { op: "eq", column: "id", value: host.id },
      set: { refetch_requested: false },
    });
    const { status, json } = await call("a");
    expect([status, json.renew_device_token]).toEqual([200, true]);
    expect((await t.store.hosts.get(host.id))!.refetch_requested).toBe(true);
    expect((await call("a")).json.renew_device_token).toBeUndefined();
    for (const path of ["/config", "/device_token", "/scripts/request", "/scripts/result", "/luks_data"]) {
      const refused = await call("b", path, { device_auth_token: "t", execution_id: "x", exit_code: 0 });
      expect([path, refused.status, refused.json.errors[0].name]).toEqual([path, 409, "machine"]);
    }
    expect((await call("a")).status).toBe(200);
  });

  it("is shown to administrators: on the host, and once in the activity feed", async () => {
    const t = await startApp({ engine });
    const { call, host } = await twoMachines(t);
    await call("a");
    expect(await (await t.get(`/hosts/${host.id}`)).json()).not.toHaveProperty("host.agent_conflict");
    await call("b");
    await call("b");
    expect(await (await t.get(`/hosts/${host.id}`)).json()).toMatchObject({
      host: { agent_conflict: { detected_at: t.clock.iso(), address: expect.any(String) } },
    });
    expect(await activitiesOf(t)).toEqual([
      expect.objectContaining({
        details: expect.objectContaining({ host_id: host.id, reason: expect.stringContaining("same hardware UUID") }),
      }),
    ]);
    t.clock.advance(31 * 86_400_000);
    expect(await (await t.get(`/hosts/${host.id}`)).json()).not.toHaveProperty("host.agent_conflict");
  });

  it("becomes a host of its own, and takes nothing from the original", async () => {
    const t = await startApp({ engine });
    const { agent, call, host } = await twoMachines(t);
    await call("a");
    await call("b");
    const body = { ...agent.details, enroll_secret: "managed-secret", ...machine("b") };
    const again = await agentCall(t, "/enroll", body);
    expect([again.status, again.json.errors[0].name]).toEqual([409, "machine"]);
    const own = await agentCall(t, "/enroll", { ...body, hostname: "copy", qengine_identifier: "own-identifier" });
    expect(own.status).toBe(200);
    expect((await agentCall(t, "/config", { ...own.json, ...machine("b") })).status).toBe(200);
    expect((await call("a")).status).toBe(200);
    expect((await t.store.hosts.list()).map(({ id, identifier, uuid }) => [id, identifier, uuid])).toEqual([
      [host.id, UUID.toLowerCase(), UUID],
      [expect.any(Number), "own-identifier", UUID],
    ]);
  });

  it("enrolls again if it has another hardware UUID but the key of the original", async () => {
    const t = await startApp({ engine });
    const { agent, call, host } = await twoMachines(t);
    const refused = await agent.call("/config", machine("c", "OTHER-UUID"));
    expect([refused.status, refused.json.errors[0].name]).toEqual([409, "hardware_uuid"]);
    expect((await activitiesOf(t))[0]!.details).toMatchObject({
      host_id: host.id,
      reason: expect.stringContaining("another hardware UUID"),
    });
    // The original has not lost its place.
    expect((await call("b")).status).toBe(200);
  });
});

describe.each(bothEngines)("two machines that enrolled with one hardware UUID, on %s", (engine) => {
  it("do not take the host from each other in turns: the first one keeps it", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const details = new ManagedAgent(t, { hardware_uuid: UUID }).details;
    const enroll = (run: string) =>
      agentCall(t, "/enroll", { ...details, enroll_secret: "managed-secret", ...machine(run) });
    const a = await enroll("a");
    const b = await enroll("b");
    expect([a.status, b.status]).toEqual([200, 200]);
    // The key of the first one has been replaced, so that it enrolls again.
    expect((await agentCall(t, "/config", { ...a.json, ...machine("a") })).status).toBe(401);
    const returned = await enroll("a");
    expect(returned.status).toBe(200);
    expect((await agentCall(t, "/config", { ...b.json, ...machine("b") })).status).toBe(401);
    expect((await enroll("b")).status).toBe(409);
    expect((await agentCall(t, "/config", { ...returned.json, ...machine("a") })).status).toBe(200);
  });

  it("do not disturb each other's predecessors: a machine that was installed again takes its host", async () => {
    const t = await startApp({ engine });
    await addSecret(t);
    const details = new ManagedAgent(t, { hardware_uuid: UUID }).details;
    for (const run of ["a", "b", "c"]) {
      const enrolled = await agentCall(t, "/enroll", { ...details, enroll_secret: "managed-secret", ...machine(run) });
      expect((await agentCall(t, "/config", { ...enrolled.json, ...machine(run) })).status).toBe(200);
      t.clock.advance(60_000);
    }
    expect(await t.store.hosts.count()).toBe(1);
  });
});

describe.each(bothEngines)("agents that send no machine, on %s", (engine) => {
  it.each([
    ["nothing", {}],
    ["something else under this name", { agent_machine: "box" }],
    ["a part of it", { agent_machine: { run: "" } }],
  ])("are not compared: %s", async (_, sent) => {
    const t = await startApp({ engine });
    await addSecret(t);
    const agent = await new ManagedAgent(t, { hardware_uuid: UUID }).enroll();
    for (let i = 0; i < 3; i++) {
      expect((await agent.call("/config", sent)).status).toBe(200);
      t.clock.advance(60_000);
    }
    const [row] = await t.store.managedAgents.list();
    expect(row).toMatchObject({ runs: [], hardware_uuid: null, conflict: null });
  });
});
