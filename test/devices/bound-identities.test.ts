// An identity of device management serves the one device and the one enrollment that it was bound to. Whoever sends the
// ids of another host is refused, and nothing of that host changes.
import { describe, expect, it } from "vitest";
import type { PlistDict } from "../../src/plist/value.ts";
import { newChallenge } from "../../src/server/certificates/device-ca/challenges.ts";
import { profileForHost } from "../../src/server/devices/apple/enroll/manual.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { allowEnrollment } from "../support/apple.ts";
import { appleDevice, type Identity, identityFor, identityFrom, newIdentity } from "../support/apple-device.ts";
import { bothEngines, rulesEngines } from "../support/engines.ts";
import { makeHost, makeTeam } from "../support/make.ts";

const CHECK_IN = "application/x-apple-aspen-mdm-checkin";
const SECRET = "enroll-secret-of-the-attacker";
const VICTIM = { UDID: "5F0C1E2A-77B1-4D4C-8C6B-3A3A1B0F9E11", SerialNumber: "C02VICTIM" };
const USER = "0A0B0C0D-77B1-4D4C-8C6B-3A3A1B0F9E11";
const PERSONAL = "A1B2C3D4-PERSONAL";
const TOKENS = { Topic: "com.apple.mgmt.test", Token: Buffer.from("stolen"), PushMagic: "stolen" };
const FACTS = { ProductName: "MacBookPro18,3", DeviceName: "Mallory's Mac", OSVersion: "15.1", Topic: "t" };

interface World {
  readonly t: TestApp;
  readonly attackers: number;
  readonly victims: number;
  readonly victim: ReturnType<typeof appleDevice>;
  readonly hostId: number;
}

/** How the server knows the host of the Mac. */
const hosts = {
  "made known by its device": undefined,
  "made known by its agent": {
    identifier: "instance-1",
    uuid: VICTIM.UDID.toLowerCase(),
    hardware_serial: "C02VICTIM",
  },
  "whose agent reports another hardware": { identifier: "instance-1", uuid: "", hardware_serial: "" },
} as const;

/** A Mac with a user's channel and a personal iPhone in one team, and the secret of another team. */
async function start(engine: "lowdb" | "postgres", host: keyof typeof hosts): Promise<World> {
  const t = await startApp({ engine });
  await allowEnrollment(t);
  const attackers = (await makeTeam(t, "Attackers")).id;
  const victims = (await makeTeam(t, "Victims")).id;
  await t.patch(`/teams/${attackers}/secrets`, { secrets: [{ secret: SECRET }] });
  const known = hosts[host];
  if (known) await makeHost(t, { ...known, platform: "darwin", team_id: victims });
  const victim = appleDevice(t, await newIdentity(t, victims, 0), VICTIM);
  const unlock = { UnlockToken: Buffer.from("unlock") };
  const checkIns = [
    () => victim.authenticate(),
    () => victim.tokenUpdate(unlock),
    () => victim.tokenUpdate({ UserID: USER, UserShortName: "ana", UserLongName: "Ana" }),
    () => victim.checkIn("SetBootstrapToken", { BootstrapToken: Buffer.from("bootstrap") }),
  ];
  for (const send of checkIns) expect((await send()).status).toBe(200);
  const phone = await newIdentity(t, victims, 1, { kind: "personal" });
  for (const message of [
    { MessageType: "Authenticate", ...FACTS, ProductName: "iPhone15,2" },
    { MessageType: "TokenUpdate", ...TOKENS },
  ])
    expect((await signed(t, phone, { EnrollmentID: PERSONAL, ...message })).status).toBe(200);
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", VICTIM.UDID) });
  const hostId = row!.host_id;
  if (host === "whose agent reports another hardware") await t.store.hosts.updateEach([{ id: hostId, uuid: "other" }]);
  return { t, attackers, victims, victim, hostId };
}

const signed = (t: TestApp, identity: Identity, message: PlistDict) =>
  appleDevice(t, identity).send(message, "MessageType" in message ? CHECK_IN : "");

/** Everything that an enrollment consists of, for all hosts. */
async function everything({ t }: World) {
  const { hosts, appleEnrollments, deviceIdentities, hostMdm, mdmCommands, operations } = t.store;
  const rows = await Promise.all(
    [hosts, appleEnrollments, deviceIdentities, hostMdm, mdmCommands, operations].map((table) => table.list({})),
  );
  return rows.map((list) => list.map((one) => ({ ...one })));
}

/** The attack: a profile for the secret of one team. */
async function identityOfSecret(t: TestApp, index: number): Promise<Identity> {
  const reply = await t.get(`/mdm/manual_enrollment_profile?enroll_secret=${SECRET}`);
  return identityFrom(t, Buffer.from(await reply.arrayBuffer()), index);
}

const identities: Readonly<Record<string, (world: World) => Promise<Identity>>> = {
  "of another team's secret": ({ t }) => identityOfSecret(t, 2),
  "of another device, which is enrolled": async ({ t, attackers }) => {
    const identity = await newIdentity(t, attackers, 2);
    const device = appleDevice(t, identity, { UDID: "5F0C1E2A-0000-4D4C-8C6B-3A3A1B0F9E11", SerialNumber: "C02MINE" });
    for (const reply of [await device.authenticate(), await device.tokenUpdate()]) expect(reply.status).toBe(200);
    return identity;
  },
  "of a personal device": ({ t, attackers }) => newIdentity(t, attackers, 2, { kind: "personal" }),
  "of a personal device of the same team": ({ t, victims }) => newIdentity(t, victims, 2, { kind: "personal" }),
  "of a personal device, which is enrolled": async ({ t, victims }) => {
    const identity = await newIdentity(t, victims, 2, { kind: "personal" });
    const own = { EnrollmentID: "MALLORY-PERSONAL" };
    const first = { ...FACTS, ProductName: "iPhone15,2" };
    expect((await signed(t, identity, { MessageType: "Authenticate", ...own, ...first })).status).toBe(200);
    expect((await signed(t, identity, { MessageType: "TokenUpdate", ...own, ...TOKENS })).status).toBe(200);
    return identity;
  },
  "for another host, whose hardware is unknown": async ({ t, attackers }) => {
    const host = await makeHost(t, { identifier: "mallory", platform: "darwin", team_id: attackers });
    return identityFrom(t, await profileForHost(serviceContext(t.services), host), 2);
  },
};

/** Ids of others, as a message can contain them. */
const ids: Readonly<Record<string, PlistDict>> = {
  "its UDID and serial number": VICTIM,
  "its UDID": { UDID: VICTIM.UDID, SerialNumber: "C02MALLORY" },
  "its UDID without a serial number": { UDID: VICTIM.UDID },
  "its UDID in lower case": { UDID: VICTIM.UDID.toLowerCase(), SerialNumber: VICTIM.SerialNumber },
  "its UDID as EnrollmentID": { EnrollmentID: VICTIM.UDID },
  "its UDID as EnrollmentID, with its serial number": {
    EnrollmentID: VICTIM.UDID,
    SerialNumber: VICTIM.SerialNumber,
  },
  "the channel of its user": { UDID: `${VICTIM.UDID}:${USER}`, SerialNumber: VICTIM.SerialNumber },
  "the channel of its user as EnrollmentID": { EnrollmentID: `${VICTIM.UDID}:${USER}` },
  "its UDID and user": { ...VICTIM, UserID: USER, UserShortName: "ana", UserLongName: "Ana" },
  "the EnrollmentID of a personal device": { EnrollmentID: PERSONAL },
  "the EnrollmentID of a personal device as UDID": { UDID: PERSONAL, SerialNumber: "C02MALLORY" },
};

const messages: Readonly<Record<string, PlistDict>> = {
  Authenticate: { MessageType: "Authenticate", ...FACTS },
  TokenUpdate: { MessageType: "TokenUpdate", ...TOKENS, UnlockToken: Buffer.from("stolen") },
  CheckOut: { MessageType: "CheckOut" },
  SetBootstrapToken: { MessageType: "SetBootstrapToken", BootstrapToken: Buffer.from("stolen") },
  GetBootstrapToken: { MessageType: "GetBootstrapToken" },
  GetToken: { MessageType: "GetToken", TokenServiceType: "com.apple.maid" },
  UserAuthenticate: { MessageType: "UserAuthenticate", UserID: USER },
  "DeclarativeManagement: tokens": { MessageType: "DeclarativeManagement", Endpoint: "tokens" },
  "DeclarativeManagement: items": { MessageType: "DeclarativeManagement", Endpoint: "declaration-items" },
  "DeclarativeManagement: status": {
    MessageType: "DeclarativeManagement",
    Endpoint: "status",
    Data: Buffer.from(JSON.stringify({ StatusItems: {}, Errors: [], FullReport: true })),
  },
  "the next command": { Status: "Idle" },
  "an answer": { Status: "Acknowledged", CommandUUID: "of the victim" },
  "an error": { Status: "Error", CommandUUID: "of the victim", ErrorChain: [] },
};

async function refusesAll(world: World, identity: Identity, names = Object.keys(ids)) {
  const { t, victim, hostId } = world;
  const [operation] = await t.store.operations.list({ where: eq("host_id", hostId) });
  const waiting = await t.store.mdmCommands.first({ where: eq("id", operation?.id ?? 0) });
  const before = await everything(world);
  for (const whose of names)
    for (const [type, message] of Object.entries(messages)) {
      const uuid: PlistDict = "CommandUUID" in message ? { CommandUUID: waiting?.command_uuid ?? "none" } : {};
      const reply = await signed(t, identity, { ...message, ...uuid, ...ids[whose] });
      expect([reply.status, await reply.text()], `${type} with ${whose}`).toEqual([403, ""]);
    }
  expect(await everything(world)).toEqual(before);
  expect((await victim.send({ Status: "Idle", UDID: VICTIM.UDID })).status).toBe(200);
  expect((await victim.checkIn("GetBootstrapToken")).status).toBe(200);
}

describe.each(rulesEngines)("the identity of an Apple device on %s", (engine) => {
  it.each(Object.keys(identities))("%s is refused with the ids of another host, and nothing changes", async (name) => {
    const world = await start(engine, "made known by its agent");
    await refusesAll(world, await identities[name]!(world));
  });

  it.each(Object.keys(hosts) as (keyof typeof hosts)[])("is refused for a host %s", async (host) => {
    const world = await start(engine, host);
    await refusesAll(world, await identities["of another team's secret"]!(world));
  });

  it("of the same team's secret needs the serial number too", async () => {
    const world = await start(engine, "made known by its device");
    const identity = await newIdentity(world.t, world.victims, 2);
    await refusesAll(
      world,
      identity,
      Object.keys(ids).filter((one) => !/lower case|UDID and (serial|user)/.test(one)),
    );
  });

  it("of the same team's secret takes no computer of another system", async () => {
    const world = await start(engine, "made known by its device");
    const { t, victims } = world;
    const uuid = "5F0C1E2A-1111-4D4C-8C6B-3A3A1B0F9E11";
    await makeHost(t, { identifier: uuid.toLowerCase(), uuid, platform: "windows", team_id: victims });
    const device = appleDevice(t, await newIdentity(t, victims, 2), { UDID: uuid });
    const before = await everything(world);
    expect((await device.authenticate()).status).toBe(403);
    expect(await everything(world)).toEqual(before);
  });
});

describe.each(bothEngines)("an Apple device on %s", (engine) => {
  it("enrolls again with a new profile, and its earlier identity has ended", async () => {
    const { t, victims, victim, hostId } = await start(engine, "made known by its device");
    const again = appleDevice(t, await newIdentity(t, victims, 2), VICTIM);
    expect((await again.authenticate()).status).toBe(200);
    expect((await again.authenticate()).status, "the reply was lost").toBe(200);
    expect((await again.tokenUpdate()).status).toBe(200);
    expect((await victim.authenticate()).status, "the earlier identity").toBe(403);
    expect((await again.send({ Status: "Idle", UDID: VICTIM.UDID })).status).toBe(200);
    expect(await t.store.appleEnrollments.list({ where: eq("host_id", hostId) })).toMatchObject([
      { enrollment_id: VICTIM.UDID, state: "enabled" },
    ]);
    expect(
      (await t.store.deviceIdentities.list({ where: eq("host_id", hostId) })).map((one) => !one.revoked_at),
    ).toEqual([false, true]);
  });

  it("enrolls again after it has left, and by the page of its host", async () => {
    const { t, victims, victim, hostId } = await start(engine, "made known by its agent");
    expect((await victim.checkIn("CheckOut")).status).toBe(200);
    const later = appleDevice(t, await newIdentity(t, victims, 2), VICTIM);
    expect((await later.authenticate()).status).toBe(200);
    const host = (await t.store.hosts.get(hostId))!;
    const page = await profileForHost(serviceContext(t.services), host);
    const last = appleDevice(t, await identityFrom(t, page, 3), VICTIM);
    expect([(await last.authenticate()).status, (await last.tokenUpdate()).status]).toEqual([200, 200]);
    expect((await later.tokenUpdate()).status).toBe(403);
    const own = await t.store.appleEnrollments.list({ where: eq("host_id", hostId) });
    expect(own).toMatchObject([{ state: "enabled", is_user: false }]);
  });

  it("enrolls automatically, whoever has enrolled with its UDID before", async () => {
    const { t, attackers, victims } = await start(engine, "made known by its device");
    const real = { UDID: "5F0C1E2A-2222-4D4C-8C6B-3A3A1B0F9E11", SerialNumber: "C02REAL" };
    const squatter = appleDevice(t, await newIdentity(t, attackers, 2), { ...real, SerialNumber: "C02FAKE" });
    expect([(await squatter.authenticate()).status, (await squatter.tokenUpdate()).status]).toEqual([200, 200]);
    const fake = (await t.store.hosts.first({ where: eq("hardware_serial", "C02FAKE") }))!;
    const host = await makeHost(t, {
      identifier: "c02real",
      hardware_serial: "C02REAL",
      platform: "darwin",
      team_id: victims,
    });
    const challenge = await newChallenge(
      { ...t.services, store: t.store },
      {
        purpose: "apple_enrollment",
        team_id: victims,
        host_id: host.id,
        hardware_serial: real.SerialNumber,
        hardware_uuid: real.UDID,
        facts: { kind: "automatic" },
      },
    );
    const device = appleDevice(t, await identityFor(t, challenge, 3), real);
    expect([(await device.authenticate()).status, (await device.tokenUpdate()).status]).toEqual([200, 200]);
    expect((await squatter.authenticate()).status).toBe(403);
    expect(await t.store.hostMdm.get(fake.id)).toMatchObject({ enrollment_status: "Off" });
    expect(await t.store.hostMdm.get(host.id)).toMatchObject({ enrollment_status: "On (automatic)" });
  });

  it("stays enrolled when one of its users leaves", async () => {
    const { t, victim, hostId } = await start(engine, "made known by its device");
    const own = () => t.store.appleEnrollments.list({ where: eq("host_id", hostId) });
    expect(await own()).toHaveLength(2);
    expect((await victim.checkIn("CheckOut", { UserID: USER })).status).toBe(200);
    expect(await own()).toMatchObject([{ enrollment_id: VICTIM.UDID, state: "enabled" }]);
    expect(await t.store.hostMdm.get(hostId)).toMatchObject({ enrollment_status: "On (manual)" });
  });
});
