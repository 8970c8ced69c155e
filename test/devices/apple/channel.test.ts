// The channel of Apple devices: check-in, identity, and commands.

import { Writable } from "node:stream";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { readPlistDict } from "../../../src/plist/read.ts";
import { bytesIn } from "../../../src/plist/value.ts";
import { writePlist } from "../../../src/plist/write.ts";
import { newChallenge } from "../../../src/server/certificates/device-ca/challenges.ts";
import { sendAppleCommands } from "../../../src/server/devices/apple/commands/send.ts";
import { appleProfileCommand } from "../../../src/server/devices/apple/profiles/commands.ts";
import { enrollmentsOfHosts } from "../../../src/server/devices/apple/push/devices.ts";
import { serviceContext } from "../../../src/server/platform/core/context.ts";
import { eq } from "../../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { appleDevice, identityFor, newIdentity } from "../../support/apple-device.ts";
import { amount, bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam } from "../../support/make.ts";

async function enrolled(t: TestApp, more = {}, teamId: number | null = null, key = 0) {
  const device = appleDevice(t, await newIdentity(t, teamId, key), more);
  expect((await device.authenticate()).status).toBe(200);
  expect((await device.tokenUpdate()).status).toBe(200);
  const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
  return { device, hostId: row!.host_id };
}
const remove = (t: TestApp, hostId: number, ...identifiers: string[]) => {
  const ctx = serviceContext(t.services);
  return t.store.tx((store) =>
    sendAppleCommands(
      { ...ctx, store },
      appleProfileCommand,
      identifiers.map((Identifier) => ({ hostId, command: { RequestType: "RemoveProfile", Identifier } })),
    ),
  );
};
/** A dictionary of texts as a binary property list, which may contain any character. */
function binaryDict(texts: Readonly<Record<string, string>>): Buffer {
  const objects = Object.entries(texts)
    .flat()
    .map((text) => {
      const units = Buffer.from(text, "utf16le").swap16();
      const length = Buffer.alloc(5);
      length.writeUInt8(0x12);
      length.writeUInt32BE(text.length, 1);
      return Buffer.concat([Buffer.from([0x6f]), length, units]);
    });
  const count = objects.length / 2;
  const refs = Array.from({ length: count }, (_, i) => [1 + 2 * i, 2 + 2 * i]);
  const dict = Buffer.from([0xd0 | count, ...refs.map(([key]) => key!), ...refs.map(([, value]) => value!)]);
  const all = [dict, ...objects];
  const offsets = Buffer.alloc(4 * all.length);
  let at = 8;
  for (const [i, one] of all.entries()) {
    offsets.writeUInt32BE(at, 4 * i);
    at += one.length;
  }
  const trailer = Buffer.alloc(32);
  trailer.set([4, 1], 6);
  trailer.writeBigUInt64BE(BigInt(all.length), 8);
  trailer.writeBigUInt64BE(BigInt(at), 24);
  return Buffer.concat([Buffer.from("bplist00"), ...all, offsets, trailer]);
}
class Lines extends Writable {
  readonly lines: Record<string, unknown>[] = [];
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void) {
    for (const line of chunk.toString().split("\n")) if (line !== "") this.lines.push(JSON.parse(line));
    done();
  }
}
const command = async (t: TestApp, uuid: string) => {
  const row = await t.store.mdmCommands.first({ where: eq("command_uuid", uuid) });
  return [row!.status, (await t.store.operations.get(row!.id))!.state];
};

describe.each(bothEngines)("an Apple device on %s", (engine) => {
  it("is refused under a name that no device can have, while others who ask at the same time get their replies", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolled(t);
    const named = (name: string) => device.raw(binaryDict({ UDID: name, Status: "Idle" }));
    const replies = await Promise.all([named("a\0b"), named("\ud800"), device.idle(), named("x".repeat(100_000))]);
    expect(replies.map((reply) => (reply === null ? null : (reply as Response).status))).toEqual([400, 400, null, 403]);
  });

  it("does not enroll under the look-alike of another device's name", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolled(t);
    for (const UDID of [`${device.udid}\u200b`, `${device.udid} `, `\ufeff${device.udid}`]) {
      const reply = await appleDevice(t, await newIdentity(t, null, 0), { UDID }).authenticate();
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("invisible characters")]);
    }
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("enrolls, gets its commands in order, answers each once, and leaves", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await enrolled(t);
    const { host } = (await (await t.get(`/hosts/${hostId}`)).json()) as { host: Record<string, unknown> };
    expect(host).toMatchObject({
      uuid: device.udid,
      platform: "darwin",
      mdm: { enrollment_status: "On (manual)", name: "svc", connected_to_svc: true },
    });
    expect(await device.idle()).toBeNull();
    const [first, second] = await remove(t, hostId, "com.example.first", "com.example.second");
    expect(await device.idle()).toMatchObject({ uuid: first, type: "RemoveProfile" });
    expect(await device.idle(), "not answered: the same again").toMatchObject({ uuid: first });
    expect(await device.answer(first!, "Acknowledged")).toMatchObject({ uuid: second });
    expect(await device.answer(first!, "Error"), "a repeated answer changes nothing").toMatchObject({ uuid: second });
    const ErrorChain = [{ ErrorCode: 89, ErrorDomain: "MCProfileErrorDomain", USEnglishDescription: "not found" }];
    expect(await device.answer(second!, "Error", { ErrorChain })).toBeNull();
    expect([await command(t, first!), await command(t, second!)]).toEqual([
      ["Acknowledged", "answered"],
      ["Error", "failed"],
    ]);
    expect(await device.answer("never sent", "Acknowledged")).toBeNull();

    expect((await device.checkIn("CheckOut")).status).toBe(200);
    const gone = await device.send({ Status: "Idle", UDID: device.udid });
    expect([gone.status, await gone.json()]).toEqual([403, { code: "com.apple.unrecognized.device" }]);
    expect(await t.store.hostMdm.get(hostId)).toMatchObject({ enrollment_status: "Off", connected_to_svc: false });
    const entries = (await t.store.activities.list()).filter(({ type }) => type.startsWith("mdm_"));
    expect(entries.map(({ type, details }) => [type, details])).toEqual(
      ["mdm_enrolled", "mdm_unenrolled"].map((type) => [type, expect.objectContaining({ enrollment_id: null })]),
    );
  });

  it("postpones commands: they come again when it connects by itself", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await enrolled(t);
    const [first, second] = await remove(t, hostId, "com.example.first", "com.example.second");
    expect(await device.idle()).toMatchObject({ uuid: first });
    expect(await device.answer(first!, "NotNow")).toMatchObject({ uuid: second });
    expect(await device.answer(second!, "NotNow")).toBeNull();
    expect(await command(t, first!)).toEqual(["NotNow", "queued"]);
    expect(await device.idle()).toMatchObject({ uuid: first });
    expect(await device.answer(first!, "Acknowledged"), "all that it had postponed").toMatchObject({ uuid: second });
    expect(await device.idle()).toMatchObject({ uuid: second });
  });

  it("is the host that the query agent has enrolled, and stays it when it enrolls again", async () => {
    const t = await startApp({ engine });
    const team = await makeTeam(t);
    const mac = { hardware_serial: "C02KNOWN", uuid: "", platform: "darwin" };
    const known = await makeHost(t, { team_id: team.id, ...mac });
    const { device, hostId } = await enrolled(t, { SerialNumber: "C02KNOWN" }, team.id);
    expect(hostId).toBe(known.id);
    const [waiting] = await remove(t, hostId, "com.example.first");
    const again = appleDevice(t, await newIdentity(t, team.id, 1), { UDID: device.udid, SerialNumber: "C02KNOWN" });
    await again.authenticate();
    expect((await device.send({ Status: "Idle", UDID: device.udid })).status, "the old identity").toBe(403);
    expect((await again.send({ Status: "Idle", UDID: device.udid })).status, "no token yet").toBe(403);
    await again.tokenUpdate();
    expect(await again.idle(), "what waited has ended").toBeNull();
    expect(await t.store.operations.first({ where: eq("uuid", waiting!) })).toMatchObject({ state: "cancelled" });
    expect(await t.store.hosts.count()).toBe(1);
  });

  it("may come back with another identity, which is recorded and logged, and is off until it has enrolled", async () => {
    const sink = new Lines();
    const t = await startApp({ engine, log: pino({ level: "info" }, sink) });
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const { device, hostId } = await enrolled(t, {}, team.id);
    const state = async () => (await t.store.hostMdm.get(hostId))?.enrollment_status;
    const ended = () => t.store.activities.count(eq("type", "mdm_unenrolled"));
    const replaced = () => sink.lines.filter(({ msg }) => String(msg).includes("with another identity"));
    expect((await device.authenticate()).status, "its own identity again").toBe(200);
    expect((await device.tokenUpdate()).status).toBe(200);
    expect([await state(), await ended(), replaced()]).toEqual(["On (manual)", 0, []]);

    const stranger = appleDevice(t, await newIdentity(t, other.id, 1), { UDID: device.udid });
    expect((await stranger.authenticate()).status, "of another team").toBe(403);
    expect([await state(), await ended(), replaced()]).toEqual(["On (manual)", 0, []]);

    const earlier = (await t.store.appleEnrollments.list())[0]!.identity_id!;
    const again = appleDevice(t, await newIdentity(t, team.id, 2), { UDID: device.udid });
    expect((await again.authenticate()).status).toBe(200);
    expect([await state(), await ended()]).toEqual(["Off", 1]);
    const [before, now] = await Promise.all(
      [earlier, (await t.store.appleEnrollments.list())[0]!.identity_id!].map((id) => t.store.deviceIdentities.get(id)),
    );
    expect(replaced()).toEqual([
      expect.objectContaining({
        level: 40,
        host_id: hostId,
        earlier_host_id: hostId,
        identity_serial: now!.serial,
        earlier_identity_serial: before!.serial,
      }),
    ]);
    expect((await device.checkIn("CheckOut")).status, "the earlier one").toBe(403);
    expect((await again.tokenUpdate()).status).toBe(200);
    expect([await state(), await ended(), await t.store.hosts.count()]).toEqual(["On (manual)", 1, 1]);
  });

  it("that proves its UDID ends the enrollment of whoever has used it, whose host is off then", async () => {
    const sink = new Lines();
    const t = await startApp({ engine, log: pino({ level: "info" }, sink) });
    const [team, other] = [await makeTeam(t), await makeTeam(t)];
    const { device, hostId } = await enrolled(t, { SerialNumber: "C02CLAIMED" }, other.id);
    const expected = { team_id: team.id, hardware_serial: "C02REAL", uuid: "", platform: "darwin" };
    const { id: host_id } = await makeHost(t, expected);
    const proved = { host_id, hardware_uuid: device.udid, hardware_serial: "C02REAL" };
    const challenge = await newChallenge(
      { ...t.services, store: t.store },
      { purpose: "apple_enrollment", team_id: team.id, facts: { kind: "automatic" }, ...proved },
    );
    const real = appleDevice(t, await identityFor(t, challenge, 1), { UDID: device.udid, SerialNumber: "C02REAL" });
    expect((await real.authenticate()).status).toBe(200);
    expect((await real.tokenUpdate()).status).toBe(200);
    const row = await t.store.appleEnrollments.first({ where: eq("enrollment_id", device.udid) });
    expect(row!.host_id).toBe(host_id);
    expect(await t.store.hostMdm.get(hostId)).toMatchObject({ enrollment_status: "Off", connected_to_svc: false });
    expect(await t.store.hostMdm.get(host_id)).toMatchObject({ enrollment_status: "On (automatic)" });
    expect((await device.send({ Status: "Idle", UDID: device.udid })).status).toBe(403);
    expect(sink.lines).toContainEqual(expect.objectContaining({ level: 30, earlier_host_id: hostId, host_id }));
  });

  it("keeps its bootstrap token on the server", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolled(t);
    const token = async () =>
      bytesIn(
        readPlistDict(Buffer.from(await (await device.checkIn("GetBootstrapToken")).arrayBuffer())),
        "BootstrapToken",
      );
    expect(await token()).toBeNull();
    await device.checkIn("SetBootstrapToken", { BootstrapToken: Buffer.from("secret") });
    expect((await token())?.toString()).toBe("secret");
    await device.checkIn("SetBootstrapToken", { BootstrapToken: Buffer.alloc(0) });
    expect(await token()).toBeNull();
  });
});

describe.each(rulesEngines)("messages of Apple devices on %s", (engine) => {
  it("are refused without the identity that is bound to the enrollment: 403 without content, never 401", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await enrolled(t);
    await remove(t, hostId, "com.example.secret");
    const { device: other } = await enrolled(t, {}, null, 1);
    const idle = { Status: "Idle", UDID: device.udid };
    const body = Buffer.from(writePlist(idle));
    const attempts = [
      other.send(idle),
      other.checkIn("GetBootstrapToken", { UDID: device.udid }),
      other.checkIn("TokenUpdate", { UDID: device.udid, Token: Buffer.from([1]), PushMagic: "mine" }),
      other.checkIn("Authenticate", { UDID: device.udid, SerialNumber: "C02OTHER" }),
      device.raw(body, "", Buffer.from("another body")),
      t.raw("/mdm/vendora/mdm", { method: "PUT", body: new Uint8Array(body) }),
      t.raw("/mdm/vendora/mdm", { method: "PUT", headers: { "mdm-signature": "AAAA" }, body: new Uint8Array(body) }),
    ];
    for (const response of await Promise.all(attempts))
      expect([response.status, await response.text()]).toEqual([403, ""]);
    expect(await device.idle()).toMatchObject({ type: "RemoveProfile" });
  });

  it("decline users of directories, store the tokens of others, and refuse unknown types", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await enrolled(t);
    expect((await device.checkIn("UserAuthenticate", { UserID: "U-1" })).status).toBe(410);
    expect((await device.checkIn("GetToken", { TokenServiceType: "x" })).status).toBe(400);
    expect((await device.checkIn("Something")).status).toBe(400);
    expect((await device.tokenUpdate({ UserID: "U-1", UserShortName: "ana" })).status).toBe(200);
    await remove(t, hostId, "com.example.first");
    const response = await device.send({ Status: "Idle", UDID: device.udid, UserID: "U-1" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(await enrollmentsOfHosts(t.store, [hostId])).toHaveLength(1);
  });

  it("are refused if they are nested too deeply, or define entities", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolled(t);
    const message = (inner: string, head = "") =>
      `<?xml version="1.0" encoding="UTF-8"?>${head}<plist version="1.0"><dict><key>Status</key><string>Idle</string><key>UDID</key><string>${device.udid}</string><key>More</key>${inner}</dict></plist>`;
    const laughs = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
    const bodies = [
      message("<array>".repeat(65) + "</array>".repeat(65)),
      message("<array>".repeat(50_000) + "</array>".repeat(50_000)),
      message("<string>&l9;</string>", `<!DOCTYPE plist [<!ENTITY l0 "ha">${laughs}]>`),
      message("<string>&x;</string>", '<!DOCTYPE plist [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    ];
    for (const body of bodies)
      for (const type of ["", "application/x-apple-aspen-mdm-checkin"])
        expect((await device.raw(Buffer.from(body), type)).status).toBe(400);
    expect((await device.raw(Buffer.from(message("<true/>")), "")).status).toBe(200);
  });

  it("never cause an error of the server, whatever they contain", async () => {
    const t = await startApp({ engine });
    const { device } = await enrolled(t);
    const text = Buffer.from(
      writePlist({ MessageType: "TokenUpdate", UDID: device.udid, Token: Buffer.from([1]), PushMagic: "m" }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(text.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (changes, isCheckIn) => {
          const damaged = Buffer.from(text);
          for (const [at, byte] of changes) damaged[at] = byte;
          const { status } = await device.raw(damaged, isCheckIn ? "application/x-apple-aspen-mdm-checkin" : "");
          expect([200, 400, 403]).toContain(status);
        },
      ),
      { numRuns: amount(500, 10_000) },
    );
  });
});
