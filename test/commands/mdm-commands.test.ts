// svc mdm commands, with the real app and simulated devices.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { newKey } from "../../src/pki/x509.ts";
import { uploadPushCertificate } from "../../src/server/devices/apple/trust/service.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { appleDevice, newIdentity } from "../support/apple-device.ts";
import { sendInto } from "../support/cli.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { appleCommand } from "../support/profiles.ts";
import { pemOfKey, pushCertificateFor } from "../support/push-certificate.ts";

let fleet: Fleet;
let file: string;
beforeEach(async () => {
  fleet = await startFleet();
  await turnOnAppleMdm(fleet.app);
  file = await fileWith("ProfileList");
});

async function fileWith(type: string): Promise<string> {
  const path = join(fleet.files, `${type}.plist`);
  await writeFile(path, Buffer.from(appleCommand(type), "base64"));
  return path;
}
async function enrolled(key = 0) {
  const device = appleDevice(fleet.app, await newIdentity(fleet.app, null, key), { DeviceName: `mac-${key}` });
  await device.authenticate();
  await device.tokenUpdate();
  return device;
}
type Device = Awaited<ReturnType<typeof enrolled>>;

/** The devices answer at the second look at the commands that wait. */
function answering(answers: readonly (readonly [Device, string])[]) {
  const send = sendInto(fleet.app);
  let looks = 0;
  return async (...[url, init]: Parameters<typeof send>) => {
    if (url.includes("command_status=pending") && ++looks === 2)
      for (const [device, status] of answers) await device.answer((await device.idle())!.uuid, status);
    return send(url, init);
  };
}
const run = (...argv: string[]) => fleet.run(["mdm", "commands", ...argv]);

it("mdm apple status shows the ends of certificates as text, and as data for programs", async () => {
  const { clock, services } = fleet.app;
  const key = await newKey();
  await services.store.applePushRequests.insert({ created_at: clock.iso(), key: pemOfKey(key) });
  const certificate = await pushCertificateFor(key, clock.now());
  const ctx = { ...serviceContext(services), store: services.store };
  await uploadPushCertificate(ctx, { certificate, privateKey: null, force: false });
  const { stdout } = await fleet.run(["mdm", "apple", "status"]);
  expect(stdout).toMatch(/certificates\s+[a-z].*: valid until \d{4}-\d\d-\d\d/i);
  expect(stdout).not.toContain("expir");
  expect(stdout).toMatch(/push_certificate\s+\S.*, until \d{4}-/);
  expect(stdout).not.toMatch(/[{[]/);
  const { expiring } = JSON.parse((await fleet.run(["mdm", "apple", "status", "-o", "json"])).stdout);
  expect(expiring[0]).toMatchObject({ days_left: expect.any(Number), soon: expect.any(Boolean) });
});

describe("mdm commands run", () => {
  it("asks, sends the command of the file, and waits for the answers of all hosts", async () => {
    const [ana, ben] = [await enrolled(), await enrolled(1)];
    const argv = ["mdm", "commands", "run", "mac-0", ana.udid, "mac-1", "--payload", file];
    const silent = await fleet.run([...argv, "--yes"]);
    expect([silent.exitCode, silent.stderr]).toEqual([2, expect.stringContaining("--confirm 2")]);
    const send = answering([
      [ana, "Acknowledged"],
      [ben, "Acknowledged"],
    ]);
    const done = await fleet.run([...argv, "--confirm", "2", "--wait"], { send });
    expect(done.stderr).toContain("ProfileList was sent to 2 hosts: command ");
    expect([done.exitCode, done.stdout.match(/Acknowledged/g)]).toEqual([0, ["Acknowledged", "Acknowledged"]]);
  });

  it("has the exit code of the outcome: failed, failed on some, or still waiting", async () => {
    const [ana, ben] = [await enrolled(), await enrolled(1)];
    const waiting = (hosts: string[], answers: readonly (readonly [Device, string])[], ...more: string[]) =>
      fleet.run(["mdm", "commands", "run", ...hosts, "--payload", file, "--wait", ...more], {
        send: answering(answers),
      });
    const one = await waiting(["mac-0"], [[ana, "Error"]], "--yes");
    expect([one.exitCode, one.stderr]).toEqual([1, expect.stringContaining("mac-0: the device answered Error")]);
    const some = await waiting(
      ["mac-0", "mac-1"],
      [
        [ana, "Acknowledged"],
        [ben, "CommandFormatError"],
      ],
      "--confirm",
      "2",
    );
    expect([some.exitCode, some.stderr]).toEqual([6, expect.stringContaining("1 of 2 hosts failed")]);
    const late = await waiting(["mac-1"], [], "--yes", "--timeout", "1m");
    expect([late.exitCode, late.stderr]).toEqual([7, expect.stringContaining("after 1m 1 of 1 host had not answered")]);
  });

  it("sends nothing in a dry run, and erases only if the name is typed", async () => {
    const { udid } = await enrolled();
    const dry = await run("run", udid, "--payload", file, "--dry-run");
    expect([dry.exitCode, dry.stdout]).toEqual([0, "would send the command to mac-0\n"]);
    const erase = await fileWith("EraseDevice");
    expect((await run("run", udid, "--payload", erase, "--yes")).exitCode).toBe(2);
    expect(await fleet.app.store.mdmCommands.count()).toBe(0);
    expect((await run("run", udid, "--payload", erase, "--confirm", "mac-0")).exitCode).toBe(0);
    expect((await run("run", udid)).stderr).toContain("--payload FILE is required");
  });
});

describe("mdm commands list, results and cancel", () => {
  it("show what waits and what was answered", async () => {
    const device = await enrolled();
    const sent = JSON.parse((await run("run", "mac-0", "--payload", file, "--yes", "-o", "json")).stdout);
    const pending = await run("list", "--host-identifier", "mac-0", "--command-status", "pending");
    expect(pending.stdout).toMatch(new RegExp(`mac-0 +${sent.command_uuid} +ProfileList +Pending`));
    const none = await run("results", sent.command_uuid);
    expect([none.exitCode, none.stderr]).toEqual([0, expect.stringContaining("no host has answered yet")]);
    await device.idle();
    await device.answer(sent.command_uuid, "Acknowledged", { ProfileList: [] });
    const [result] = JSON.parse((await run("results", sent.command_uuid, "--text", "-o", "json")).stdout);
    expect(result).toMatchObject({ host_uuid: device.udid, status: "Acknowledged" });
    expect(result.payload).toContain("<key>RequestType</key>");
    expect(result.result).toContain("<key>ProfileList</key>");
    const shown = await run("results", sent.command_uuid, "--text");
    expect(shown.stdout).toMatch(/^status +Acknowledged$/m);
    expect(shown.stdout).toMatch(/\nanswer:\n<\?xml(?:.*\n)*\s*<key>ProfileList<\/key>$/m);
    expect((await run("results", "unknown")).exitCode).toBe(3);
  });

  it("cancels a command that the device has not received", async () => {
    await enrolled();
    const lock = await fileWith("DeviceLock");
    const { command_uuid } = JSON.parse((await run("run", "mac-0", "--payload", lock, "--yes", "-o", "json")).stdout);
    expect((await run("cancel", "mac-0", command_uuid)).exitCode).toBe(2);
    expect((await run("cancel", "mac-0", command_uuid, "--yes")).stderr).toContain("cancelled command");
    expect((await run("list")).stderr).toContain("no commands");
    expect((await run("cancel", "mac-0", command_uuid, "--yes")).exitCode).toBe(3);
  });
});
