// Names that hosts choose stand in sentences of pages, so they are one line in one direction, whichever way they come.
import { expect, it } from "vitest";
import { startApp } from "../support/app.ts";
import { turnOnAppleMdm } from "../support/apple.ts";
import { enrolledDevice } from "../support/apple-device.ts";
import { makeManaged } from "../support/managed.ts";
import { enrollWindows, turnOnWindowsMdm, userToken } from "../support/windows-device.ts";

const TURNED = "of\n\u202etsoh";
const STRAIGHT = "of tsoh";

it("the managed agent's names of a host are one line", async () => {
  const t = await startApp();
  const agent = await makeManaged(t, { hostname: TURNED, computer_name: TURNED });
  expect(await agent.host()).toMatchObject({ hostname: STRAIGHT, computer_name: STRAIGHT, display_name: STRAIGHT });
});

it("the name with which a Windows device enrolls is one line", async () => {
  const t = await startApp();
  await turnOnWindowsMdm(t);
  const agent = await makeManaged(t, { platform: "windows", hostname: "", computer_name: "" });
  const device = await enrollWindows(t, userToken(agent.key), { DeviceName: TURNED });
  expect(await t.store.hosts.get(device.hostId!)).toMatchObject({ computer_name: STRAIGHT });
});

it("the name that an Apple device reports is one line", async () => {
  const t = await startApp();
  await turnOnAppleMdm(t);
  const { device, id } = await enrolledDevice(t, { ProductName: "iPhone17,1", DeviceName: TURNED });
  for (let command = await device.idle(); command !== null; )
    command =
      command.type === "DeviceInformation"
        ? await device.answer(command.uuid, "Acknowledged", { QueryResponses: { DeviceName: TURNED } })
        : await device.answer(command.uuid, "Error");
  expect(await t.store.hosts.get(id)).toMatchObject({ computer_name: STRAIGHT });
});
