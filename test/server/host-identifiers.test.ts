// Hosts are found by their names, UUIDs and serial numbers in any letter case, everywhere.
import { beforeEach, describe, expect, it } from "vitest";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../support/make.ts";

const UUID = "1A2B3C4D-1111-2222-3333-ABCDEFABCDEF";
const SPELLED = [
  UUID.toLowerCase(),
  UUID.replaceAll("-", ""),
  `{${UUID}}`,
  "HOST-É.example.COM",
  "host-e\u0301.example.com",
  "sn-77",
];

describe.each(rulesEngines)("identifiers of hosts on %s", (engine) => {
  let t: TestApp;
  let id: number;
  beforeEach(async () => {
    t = await startApp({ engine });
    await makeHost(t);
    ({ id } = await makeHost(t, {
      uuid: UUID,
      hostname: "host-é.example.com",
      hardware_serial: "SN-77",
      identifier: "other",
    }));
    await makeHost(t, { uuid: "", hardware_serial: "" });
  });

  const byIdentifier = async (name: string) => {
    const response = await t.get(`/hosts/identifier/${encodeURIComponent(name)}`);
    return response.status === 200 ? ((await response.json()) as { host: { id: number } }).host.id : response.status;
  };

  it.each(SPELLED)("%s", async (name) => {
    expect(await byIdentifier(name)).toBe(id);
    const asked = await t.post(`/hosts/identifier/${encodeURIComponent(name)}/query`, { query: "SELECT 1" });
    expect([asked.status, ((await asked.json()) as { host_id: number }).host_id]).toEqual([200, id]);
    const list = [{ type: "host", payload: { identifier: name } }];
    const translated = (await (await t.post("/translate", { list })).json()) as { list: { payload: { id: number } }[] };
    expect(translated.list[0]!.payload.id).toBe(id);
    const label = (await (await t.post("/labels", { name: "l", hosts: [name] })).json()) as {
      label: { host_ids: number[] };
    };
    expect(label.label.host_ids).toEqual([id]);
    const run = await t.post("/queries/run_by_names", { query: "SELECT 1", selected: { hosts: [name] } });
    expect(run.status).toBe(200);
    expect((await t.store.campaignHosts.list()).at(-1)).toMatchObject({ host_id: id });
  });

  it("an exact name takes precedence, and nothing is found by a part, by blanks or in another team", async () => {
    const exact = await makeHost(t, { hostname: "HOST-É.example.com" });
    expect(await byIdentifier("HOST-É.example.com")).toBe(exact.id);
    expect(await byIdentifier("host-é.example.com")).toBe(id);
    for (const name of ["sn-7", "sn-77%", " ", "host-"]) expect(await byIdentifier(name), name).toBe(404);
    const team = await makeTeam(t);
    const stranger = await makeUser(t, { teams: [{ id: team.id, role: "admin" }] });
    expect((await stranger.get("/hosts/identifier/sn-77")).status).toBe(404);
  });

  it("too long ones are refused, and never truncated", async () => {
    const long = "x".repeat(256);
    await makeHost(t, { hostname: "x".repeat(255) });
    expect(await byIdentifier(long)).toBeGreaterThanOrEqual(400);
    expect((await t.post("/translate", { list: [{ type: "host", payload: { identifier: long } }] })).status).toBe(400);
    expect((await t.post("/labels", { name: "l", hosts: [long] })).status).toBeGreaterThanOrEqual(400);
    await t.post("/spec/enroll_secret", { spec: { secrets: [{ secret: "enroll-me" }] } });
    const enrolled = async (host_identifier: string) => {
      const body = JSON.stringify({ enroll_secret: "enroll-me", host_identifier });
      const reply = await t.raw("/api/v1/qengine/enroll", { method: "POST", body });
      return (await reply.json()) as { node_key?: string; error?: string };
    };
    expect((await enrolled(long)).error).toContain("longer than 255 characters");
    expect((await enrolled("y".repeat(255))).node_key).toBeDefined();
    expect(await t.store.hosts.count()).toBe(5);
  });
});
