// Hosts are found by their names, UUIDs and serial numbers in any letter case, everywhere.
import { beforeEach, describe, expect, it } from "vitest";
import { eq } from "../../src/server/platform/store/query.ts";
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

  describe("names that other hosts have reported", () => {
    const VICTIM = { uuid: "5E5E5E5E-0001-4000-8000-00000000000A", serial: "VIC-0001", identifier: "agent-of-victim" };
    const queried = async (name: string) => {
      const reply = await t.post(`/hosts/identifier/${encodeURIComponent(name)}/query`, { query: "SELECT 1" });
      return reply.status === 200 ? ((await reply.json()) as { host_id: number }).host_id : reply.status;
    };
    const translated = async (name: string) => {
      const reply = await t.post("/translate", { list: [{ type: "host", payload: { identifier: name } }] });
      if (reply.status !== 200) return reply.status;
      return ((await reply.json()) as { list: { payload: { id: number } }[] }).list[0]!.payload.id;
    };
    let labels = 0;
    const labelled = async (name: string) => {
      const reply = await t.post("/labels", { name: `l${++labels}`, hosts: [name] });
      const body = (await reply.json()) as { label?: { host_ids?: number[] }; errors?: { name: string }[] };
      return reply.status === 200 ? body.label!.host_ids : [reply.status, body.errors![0]!.name];
    };
    const specified = async (name: string) => {
      const label = { name: `s${++labels}`, label_membership_type: "manual", hosts: [name] };
      const reply = await t.post("/spec/labels", { specs: [label] });
      if (reply.status !== 200)
        return [reply.status, ((await reply.json()) as { errors: { name: string }[] }).errors[0]!.name];
      const [row] = await t.store.labels.list({ where: eq("name", label.name) });
      return (await t.store.labelMembers.list({ where: eq("label_id", row!.id) })).map(({ host_id }) => host_id);
    };
    const targeted = async (name: string) => {
      const reply = await t.post("/queries/run_by_identifiers", { query: "SELECT 1", selected: { hosts: [name] } });
      if (reply.status !== 200)
        return [reply.status, ((await reply.json()) as { errors: { name: string }[] }).errors[0]!.name];
      const last = (await t.store.campaigns.list()).at(-1)!;
      return (await t.store.campaignHosts.list({ where: eq("campaign_id", last.id) })).map(({ host_id }) => host_id);
    };
    const everywhere = async (name: string) => [
      await byIdentifier(name),
      await queried(name),
      await translated(name),
      await labelled(name),
      await specified(name),
      await targeted(name),
    ];
    const only = (host: { id: number }) => [host.id, host.id, host.id, [host.id], [host.id], [host.id]];
    const refused = [409, 409, 409, [422, "hosts"], [422, "specs.0.hosts"], [422, "selected.hosts"]];

    const makeVictim = () =>
      makeHost(t, { uuid: VICTIM.uuid, hardware_serial: VICTIM.serial, identifier: VICTIM.identifier });

    it("a UUID is that of the host that has it as its UUID, and a serial number comes before hostnames", async () => {
      const team = await makeTeam(t);
      const evil = { team_id: team.id };
      for (const name of [VICTIM.uuid, VICTIM.uuid.toLowerCase(), VICTIM.serial]) {
        await makeHost(t, { ...evil, hostname: name });
        await makeHost(t, { ...evil, hostname: name.toLowerCase() });
      }
      await makeHost(t, { ...evil, hardware_serial: VICTIM.uuid });
      await makeHost(t, { ...evil, identifier: VICTIM.uuid.toLowerCase() });
      await makeHost(t, { ...evil, identifier: VICTIM.serial.toLowerCase() });
      const victim = await makeVictim();
      for (const name of [VICTIM.uuid, VICTIM.uuid.toLowerCase(), `{${VICTIM.uuid}}`, VICTIM.serial, "vic-0001"])
        expect(await everywhere(name), name).toEqual(only(victim));
    });

    it("an agent's identifier that is a UUID comes before serial numbers and hostnames", async () => {
      const identifier = VICTIM.uuid.toLowerCase();
      await makeHost(t, { hostname: VICTIM.uuid });
      await makeHost(t, { hardware_serial: identifier });
      const { id } = await makeHost(t, { identifier });
      expect(await everywhere(VICTIM.uuid)).toEqual(only({ id }));
    });

    it.each<[what: string, name: string, evil: object]>([
      ["UUID", VICTIM.uuid, { uuid: VICTIM.uuid }],
      ["UUID in other letters", VICTIM.uuid, { uuid: VICTIM.uuid.toLowerCase() }],
      ["serial number", VICTIM.serial, { hardware_serial: VICTIM.serial }],
      ["serial number in other letters", VICTIM.serial, { hardware_serial: "vic-0001" }],
      ["serial number as its UUID", VICTIM.serial, { uuid: VICTIM.serial }],
    ])("a %s of several hosts is refused, with their number", async (_what, name, evil) => {
      const other = await makeHost(t, evil);
      const victim = await makeVictim();
      expect(await everywhere(name)).toEqual(refused);
      const reply = await t.get(`/hosts/identifier/${encodeURIComponent(name)}`);
      expect(await reply.json()).toMatchObject({
        errors: [{ reason: expect.stringMatching(`^2 hosts have the .*ids ${other.id}, ${victim.id}.*use the id`) }],
      });
      expect(await t.store.labels.count(eq("label_type", "regular"))).toBe(0);
    });

    it("of several hosts with a hostname the details show the first; nothing else is done to one of them", async () => {
      const first = await makeHost(t, { hostname: "twin" });
      await makeHost(t, { hostname: "twin" });
      expect(await everywhere("twin")).toEqual([first.id, ...refused.slice(1)]);
    });

    it("hosts that the caller cannot see make no name ambiguous", async () => {
      const [own, other] = [await makeTeam(t), await makeTeam(t)];
      await makeHost(t, { uuid: VICTIM.uuid, team_id: other.id });
      const mine = await makeHost(t, { uuid: VICTIM.uuid, team_id: own.id });
      const admin = await makeUser(t, { teams: [{ id: own.id, role: "admin" }] });
      const reply = await admin.get(`/hosts/identifier/${VICTIM.uuid}`);
      expect([reply.status, await reply.json()]).toMatchObject([200, { host: { id: mine.id } }]);
    });
  });
});
