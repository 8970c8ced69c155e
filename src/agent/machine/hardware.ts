// What identifies this machine, and what it is called.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import si from "systeminformation";

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

/** What boards report if nobody has set a value. */
const UNSET =
  /^(|-1|0+|none|n\/a|not (specified|applicable|available|settable)|default string|to be filled.*|system serial number|[0f-]+|03000200-0400-0500-0006-000700080009)$/i;
const set = (value: string | undefined): string =>
  value === undefined || UNSET.test(value.trim()) ? "" : value.trim();

async function linuxHardware(): Promise<Omit<Hardware, "hostname" | "computerName">> {
  const dmi = async (name: string) => set(await readText(`/sys/class/dmi/id/${name}`));
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
  return { uuid: uuid || fromId, serial, vendor, model, version, boardVendor, boardModel, boardVersion, boardSerial };
}

async function otherHardware(): Promise<Omit<Hardware, "hostname" | "computerName">> {
  const [system, board] = await Promise.all([si.system(), si.baseboard()]);
  return {
    uuid: set(system.uuid),
    serial: set(system.serial),
    vendor: system.manufacturer,
    model: system.model,
    version: system.version,
    boardVendor: board.manufacturer,
    boardModel: board.model,
    boardVersion: board.version,
    boardSerial: set(board.serial),
  };
}

/** `given` replaces what the machine reports. */
export async function readHardware(given: { readonly uuid?: string; readonly serial?: string }): Promise<Hardware> {
  const found = await (process.platform === "linux" ? linuxHardware() : otherHardware());
  const name = hostname();
  const uuid = given.uuid ?? found.uuid;
  if (uuid === "") throw new Error("this machine has no hardware UUID; set one with --hardware-uuid");
  return {
    ...found,
    uuid,
    serial: given.serial ?? found.serial,
    hostname: name,
    computerName: name.split(".")[0] ?? name,
  };
}
