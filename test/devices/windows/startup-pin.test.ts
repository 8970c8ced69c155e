// The policy that lets users of Windows devices set a BitLocker PIN: sent where the team requires one.
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { headerStatus, managedWindows, statusFor } from "../../support/windows-device.ts";

const NODE = "./Device/Vendor/MSFT/BitLocker/SystemDrivesRequireStartupAuthentication";
type Device = Awaited<ReturnType<typeof managedWindows>>["device"];

async function set(t: TestApp, settings: object, team_id?: number): Promise<void> {
  const res = await t.post("/disk_encryption", { ...settings, ...(team_id === undefined ? {} : { team_id }) });
  expect(res.status, await res.text()).toBe(204);
}

/** The one command that the device gets; it answers with the status. */
async function received(device: Device, status = "200"): Promise<SyncCommand> {
  let command: SyncCommand | undefined;
  const ask = async () => {
    const { commands } = await device.start();
    [command] = commands;
    return commands.length;
  };
  await expect.poll(ask, { timeout: 10_000 }).toBe(1);
  await device.send([headerStatus, statusFor(command!.cmdId, command!.verb, status)]);
  return command!;
}

describe.each(bothEngines)("the policy for BitLocker PINs on %s", (engine) => {
  it("is sent where a PIN is required, once, and deleted where it is not", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    await set(t, { enable_disk_encryption: true });
    await runJob(t.services, "windows_startup_pins");
    expect((await device.start()).commands, "encryption alone needs no policy").toEqual([]);

    await set(t, { windows_settings: { require_bitlocker_pin: true } });
    const policy = await received(device);
    expect([policy.verb, policy.items.map(({ target }) => target)]).toEqual(["Replace", [NODE]]);
    const { data } = policy.items[0]!;
    expect(data).toMatch(/^<enabled\/>/);
    expect(data).toContain('<data id="ConfigurePINUsageDropDown_Name" value="2"/>');
    expect(data, "the disk is encrypted before there is a PIN").toContain(
      '<data id="ConfigureTPMUsageDropDown_Name" value="2"/>',
    );
    await runJob(t.services, "windows_startup_pins");
    expect((await device.start()).commands, "it has the policy").toEqual([]);

    const team = await makeTeam(t);
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [hostId] })).status).toBe(200);
    const removal = await received(device, "404");
    expect([removal.verb, removal.items.map(({ target }) => target)]).toEqual(["Delete", [NODE]]);
    await runJob(t.services, "windows_startup_pins");
    expect((await device.start()).commands).toEqual([]);
    expect(await t.store.windowsStartupPins.count()).toBe(0);

    await set(t, { enable_disk_encryption: true, windows_require_bitlocker_pin: true }, team.id);
    expect((await received(device)).verb).toBe("Replace");
    await set(t, { enable_disk_encryption: false }, team.id);
    expect((await received(device)).verb).toBe("Delete");
  });

  it("is sent to a device that enrolls", async () => {
    const t = await startApp({ engine });
    await set(t, { enable_disk_encryption: true, windows_require_bitlocker_pin: true });
    const { device } = await managedWindows(t);
    expect((await device.start()).commands).toMatchObject([{ verb: "Replace", items: [{ target: NODE }] }]);
  });
});
