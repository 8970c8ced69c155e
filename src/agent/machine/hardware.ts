// What identifies this machine, and what it is called.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import si from "systeminformation";
import { firmwareText, hardwareUuid, serialNumber } from "../../agent-wire/firmware.ts";

export interface Hardware {
  readonly uuid: string;
  readonly serial: string;
  readonly vendor: string;
  readonly model: string;
  readonly version: string;
  readonly boardVendor: string;
  readonly boardModel: string;
  readonly boardVersion: string;
  readonly boardSerial: string;
  readonly hostname: string;
  readonly computerName: string;
}

/** The text of a small file; empty if it cannot be read. */
export const readText = (path: string): Promise<string> =>
  readFile(path, "utf8").then(
    (text) => text.trim(),
    () => "",
  );

async function linuxHardware(): Promise<Omit<Hardware, "hostname" | "computerName">> {
  const dmi = async (name: string) => firmwareText(await readText(`/sys/class/dmi/id/${name}`));
  const [uuid, machineId, serial, vendor, model, version, boardVendor, boardModel, boardVersion, boardSerial] =
    await Promise.all([
      dmi("product_uuid"),
      readText("/etc/machine-id"),
      dmi("product_serial"),
      dmi("sys_vendor"),
      dmi("product_name"),
      dmi("product_version"),
      dmi("board_vendor"),
      dmi("board_name"),
      dmi("board_version"),
      dmi("board_serial"),
    ]);
  const fromId = machineId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return {
    uuid: hardwareUuid(uuid) || fromId,
    serial: serialNumber(serial),
    vendor,
    model,
    version,
    boardVendor,
    boardModel,
    boardVersion,
    boardSerial: serialNumber(boardSerial),
  };
}

async function otherHardware(): Promise<Omit<Hardware, "hostname" | "computerName">> {
  const [system, board] = await Promise.all([si.system(), si.baseboard()]);
  return {
    uuid: hardwareUuid(system.uuid),
    serial: serialNumber(system.serial),
    vendor: firmwareText(system.manufacturer),
    model: firmwareText(system.model),
    version: firmwareText(system.version),
    boardVendor: firmwareText(board.manufacturer),
    boardModel: firmwareText(board.model),
    boardVersion: firmwareText(board.version),
    boardSerial: serialNumber(board.serial),
  };
}

/** `overrides` replaces what the machine reports. */
export async function readHardware(overrides: { readonly uuid?: string; readonly serial?: string }): Promise<Hardware> {
  const detected = await (process.platform === "linux" ? linuxHardware() : otherHardware());
  const name = hostname();
  const uuid = overrides.uuid ?? detected.uuid;
  if (uuid === "") throw new Error("this machine has no hardware UUID; set one with --hardware-uuid");
  return {
    ...detected,
    uuid,
    serial: overrides.serial ?? detected.serial,
    hostname: name,
    computerName: name.split(".")[0] ?? name,
  };
}
