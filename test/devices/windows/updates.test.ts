// Update deadlines of Windows devices: sent as the settings of their teams have them.
import { describe, expect, it } from "vitest";
import { runJob } from "../../../src/server/edge/jobs/start.ts";
import type { SyncCommand } from "../../../src/syncml/value.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { bothEngines, rulesEngines } from "../../support/engines.ts";
import { makeTeam } from "../../support/make.ts";
import { headerStatus, managedWindows, statusFor } from "../../support/windows-device.ts";

const UPDATE = "./Device/Vendor/MSFT/Policy/Config/Update/";
type Device = Awaited<ReturnType<typeof managedWindows>>["device"];

async function set(t: TestApp, windows_updates: object, teamId?: number): Promise<void> {
  const mdm = { windows_updates };
  const res = teamId === undefined ? await t.patch("/config", { mdm }) : await t.patch(`/teams/${teamId}`, { mdm });
  expect(res.status, await res.text()).toBe(200);
}

/** What the device is asked, by verb; it does it. */
async function asked(device: Device, status = "200"): Promise<string[]> {
  const commands: SyncCommand[] = [];
  const ask = async () => {
    commands.splice(0, commands.length, ...(await device.start()).commands);
    return commands.length;
  };
  await expect.poll(ask, { timeout: 10_000 }).toBe(1);
  const [command] = commands;
  const inner = command!.commands.map(({ cmdId, verb }) => statusFor(cmdId, verb, status));
  const own = command!.verb === "Sequence" || status === "200" ? "200" : "507";
  await device.send([headerStatus, statusFor(command!.cmdId, command!.verb, own), ...inner]);
  return command!.commands.map(({ verb, items }) => {
    const { target, data } = items[0]!;
    expect(target!.startsWith(UPDATE)).toBe(true);
    return [verb, target!.slice(UPDATE.length), data].filter((part) => part !== null && part !== "").join(" ");
  });
}

const replaced = (deadline: number, grace: number) => [
  `Replace ConfigureDeadlineForFeatureUpdates ${deadline}`,
  `Replace ConfigureDeadlineForQualityUpdates ${deadline}`,
  `Replace ConfigureDeadlineGracePeriod ${grace}`,
];
const deleted = [
  "Delete ConfigureDeadlineForFeatureUpdates",
  "Delete ConfigureDeadlineForQualityUpdates",
  "Delete ConfigureDeadlineGracePeriod",
];
const none = { deadline_days: null, grace_period_days: null };

describe.each(bothEngines)("update deadlines of a Windows device on %s", (engine) => {
  it("are sent once, follow the settings and the team, and are deleted when they are cleared", async () => {
    const t = await startApp({ engine });
    const { device, hostId } = await managedWindows(t);
    await set(t, { deadline_days: 5, grace_period_days: 0 });
    expect(await asked(device)).toEqual(replaced(5, 0));
    await runJob(t.services, "windows_updates");
    expect((await device.start()).commands, "it knows").toEqual([]);

    const team = await makeTeam(t);
    await set(t, { deadline_days: 7, grace_period_days: 2 }, team.id);
    expect((await t.post("/hosts/transfer", { team_id: team.id, hosts: [hostId] })).status).toBe(200);
    expect(await asked(device)).toEqual(replaced(7, 2));

    await set(t, none, team.id);
    expect(await asked(device, "404")).toEqual(deleted);
    await runJob(t.services, "windows_updates");
    expect((await device.start()).commands).toEqual([]);
    expect(await t.store.windowsUpdates.count()).toBe(0);
    const activities = (await t.store.activities.list()).filter(({ type }) => type === "edited_windows_updates");
    expect(activities.map(({ details }) => details)).toMatchObject([
      { deadline_days: 5, grace_period_days: 0 },
      { team_id: team.id, deadline_days: 7, grace_period_days: 2 },
      { team_id: team.id, deadline_days: null, grace_period_days: null },
    ]);
  });
});

describe.each(rulesEngines)("update deadlines on %s", (engine) => {
  it("are sent to a device that enrolls, and again when what waited was dropped", async () => {
    const t = await startApp({ engine });
    await set(t, { deadline_days: 3, grace_period_days: 1 });
    const { device, hostId } = await managedWindows(t);
    const [row] = await t.store.windowsUpdates.list();
    expect(row).toMatchObject({ id: hostId, deadline_days: 3 });
    await t.store.windowsUpdates.update({
      where: { op: "eq", column: "id", value: hostId },
      set: { command_uuid: null },
    });
    expect(await asked(device)).toEqual(replaced(3, 1));
    await runJob(t.services, "windows_updates");
    expect(await asked(device)).toEqual(replaced(3, 1));
  });

  it("are not repeated for a device that refuses them", async () => {
    const t = await startApp({ engine });
    const { device } = await managedWindows(t);
    await set(t, { deadline_days: 5, grace_period_days: 0 });
    expect(await asked(device, "405")).toEqual(replaced(5, 0));
    await runJob(t.services, "windows_updates");
    expect((await device.start()).commands).toEqual([]);
  });

  it("are checked: both numbers, and their ranges", async () => {
    const t = await startApp({ engine });
    await managedWindows(t);
    for (const [value, name] of [
      [{ deadline_days: 5 }, "grace_period_days"],
      [{ deadline_days: 31, grace_period_days: 0 }, "deadline_days"],
      [{ deadline_days: 5, grace_period_days: 8 }, "grace_period_days"],
      [{ deadline_days: -1, grace_period_days: 0 }, "deadline_days"],
    ] as const) {
      const res = await t.patch("/config", { mdm: { windows_updates: value } });
      expect(res.status).toBe(422);
      expect(JSON.stringify(await res.json())).toContain(`windows_updates.${name}`);
    }
  });
});
