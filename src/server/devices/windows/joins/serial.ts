// Asks a device that its user has enrolled for its serial number, by which it is found among the hosts of agents.
import { syncCommand } from "../../../../syncml/value.ts";
import { isSerialNumber } from "../../../hosts/hosts/serial-number.ts";
import { fillSerial } from "../../../hosts/hosts/write.ts";
import type { Context } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import { setDeviceSerial } from "../channel/devices.ts";
import type { Enrollment } from "../channel/listeners.ts";
import { repliesTo, windowsCommandKind } from "../commands/kind.ts";
import { sendWindowsCommands } from "../commands/send.ts";

const NODE = "./DevDetail/Ext/Microsoft/SMBIOSSerialNumber";

export const deviceSerial = limit({
  what: "serial number that a Windows device reports",
  max: 255,
  unit: "characters",
  beyond: "The serial number is ignored, and the device stays a host of its own.",
});

export const windowsSerialCommand = windowsCommandKind({
  name: "windows_serial",
  title: "serial number",
  async ended(inside, operation, { state }) {
    if (state !== "answered") return;
    const replies = await repliesTo(inside, operation);
    const items = replies.flatMap(({ verb, items }) => (verb === "Results" ? items : []));
    const serial = (items[0]?.data ?? "").trim();
    if (serial.length > deviceSerial.max || !isSerialNumber(serial)) return;
    await setDeviceSerial(inside.store, operation.host_id, serial);
    await fillSerial(inside.store, operation.host_id, serial);
  },
});

export async function askForSerial(inside: Context, { host_id: hostId, is_alone }: Enrollment): Promise<void> {
  if (!is_alone) return;
  const command = syncCommand("Get", "", { items: [{ target: NODE }] });
  await sendWindowsCommands(inside, windowsSerialCommand, [{ hostId, command }]);
}
