import { statfs } from "node:fs/promises";
import { setTimeout as after } from "node:timers/promises";
import si from "systeminformation";
import { linesOf, mapFew, namesIn, outputOf, readOr, realPath } from "./read.ts";
import { bigint, integer, LINUX, MAC, type Table, type TableRow, text, UNIX, WINDOWS } from "./table.ts";

/** A server of network drives that is gone would block the answer. */
const STATFS_MS = 3_000;
const SECTOR = 512;

interface Mount {
  readonly device: string;
  readonly path: string;
  readonly type: string;
  readonly flags: string;
}

/** Spaces and the like are written as octal numbers. */
const decoded = (word: string) =>
  word.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

async function mounts(): Promise<Mount[]> {
  if (process.platform === "linux")
    return (await linesOf("/proc/mounts")).map((line) => {
      const [device = "", path = "", type = "", flags = ""] = line.split(" ").map(decoded);
      return { device, path, type, flags };
    });
  return [...(await outputOf("/sbin/mount", [])).matchAll(/^(.+) on (.+) \(([^,)]+)(?:, ([^)]*))?\)$/gm)].map(
    ([, device, path, type, flags = ""]) => ({ device: device!, path: path!, type: type!, flags }),
  );
}

async function mountRow({ device, path, type, flags }: Mount): Promise<TableRow> {
  const stats = await Promise.race([statfs(path, { bigint: true }).catch(() => null), after(STATFS_MS, null)]);
  return {
    device,
    device_alias: device.startsWith("/") ? await realPath(device) : device,
    path,
    type,
    blocks_size: stats?.bsize ?? 0,
    blocks: stats?.blocks ?? 0,
    blocks_free: stats?.bfree ?? 0,
    blocks_available: stats?.bavail ?? 0,
    inodes: stats?.files ?? 0,
    inodes_free: stats?.ffree ?? 0,
    flags,
  };
}

interface BlockDevice {
  readonly name: string;
  readonly parent: string;
  readonly slaves: readonly string[];
  /** Name in the device mapper; `CRYPT-` if it encrypts. */
  readonly mapper: string;
}

async function blockDevices(): Promise<BlockDevice[]> {
  return mapFew(await namesIn("/sys/class/block"), async (name) => {
    const path = await realPath(`/sys/class/block/${name}`);
    const above = path.split("/").at(-2)!;
    const slaves = await namesIn(`${path}/slaves`);
    const isPartition = (await readOr(`${path}/partition`)) !== "";
    return {
      name,
      parent: isPartition ? above : (slaves[0] ?? ""),
      slaves,
      mapper: (await readOr(`${path}/dm/uuid`)).trim(),
    };
  });
}

/** What udev knows of a device. */
async function udev(name: string): Promise<(key: string) => string> {
  const number = (await readOr(`/sys/class/block/${name}/dev`)).trim();
  const properties = await readOr(`/run/udev/data/b${number}`);
  return (key) => new RegExp(`^E:${key}=(.*)$`, "m").exec(properties)?.[1] ?? "";
}

export const diskTables: readonly Table[] = [
  {
    name: "mounts",
    platforms: UNIX,
    columns: {
      ...text("device device_alias path type"),
      ...bigint("blocks_size blocks blocks_free blocks_available inodes inodes_free"),
      ...text("flags"),
    },
    rows: async () => mapFew(await mounts(), mountRow),
  },
  {
    name: "block_devices",
    platforms: LINUX,
    columns: {
      ...text("name parent vendor model serial"),
      ...bigint("size"),
      ...integer("block_size"),
      ...text("uuid type label"),
    },
    rows: async () =>
      mapFew(await blockDevices(), async ({ name, parent }) => {
        const property = await udev(name);
        const device = async (file: string) => (await readOr(`/sys/class/block/${name}/${file}`)).trim();
        return {
          name: `/dev/${name}`,
          parent: parent === "" ? "" : `/dev/${parent}`,
          vendor: await device("device/vendor"),
          model: await device("device/model"),
          serial: (await device("device/serial")) || property("ID_SERIAL_SHORT"),
          // In sectors, whatever the size of the device's blocks.
          size: Number(await device("size")),
          block_size: Number(await device("queue/logical_block_size")) || SECTOR,
          uuid: property("ID_FS_UUID"),
          type: property("ID_FS_TYPE"),
          label: property("ID_FS_LABEL"),
        };
      }),
  },
  {
    name: "disk_encryption",
    platforms: LINUX,
    columns: {
      ...text("name uuid"),
      ...integer("encrypted"),
      ...text("type encryption_status uid user_uuid filevault_status"),
    },
    async rows() {
      const devices = await blockDevices();
      const byName = new Map(devices.map((device) => [device.name, device]));
      // A volume is encrypted if it lies on a device that encrypts, directly or not.
      const typeOf = (name: string, depth = 0): string => {
        const { mapper = "", slaves = [], parent = "" } = byName.get(name) ?? {};
        if (mapper.startsWith("CRYPT-")) return mapper.split("-")[1]!;
        if (depth > 8) return "";
        const below = slaves.length > 0 ? slaves : parent === "" ? [] : [parent];
        return below.map((child) => typeOf(child, depth + 1)).find((type) => type !== "") ?? "";
      };
      return mapFew(devices, async ({ name }) => {
        const type = typeOf(name);
        return {
          name: `/dev/${name}`,
          uuid: (await udev(name))("ID_FS_UUID"),
          encrypted: type === "" ? 0 : 1,
          type,
          encryption_status: type === "" ? "not encrypted" : "encrypted",
          uid: "",
          user_uuid: "",
          filevault_status: "",
        };
      });
    },
  },
  {
    name: "disk_encryption",
    platforms: MAC,
    columns: {
      ...text("name uuid"),
      ...integer("encrypted"),
      ...text("type encryption_status uid user_uuid filevault_status"),
    },
    async rows() {
      const isOn = (await outputOf("/usr/bin/fdesetup", ["status"])).includes("FileVault is On");
      const [, user = ""] = /,([0-9A-F-]{36})/.exec(await outputOf("/usr/bin/fdesetup", ["list"])) ?? [];
      return [
        {
          name: "/dev/disk1s1",
          uuid: "",
          encrypted: isOn ? 1 : 0,
          type: isOn ? "APFS Encryption" : "",
          encryption_status: isOn ? "encrypted" : "not encrypted",
          uid: "",
          user_uuid: isOn ? user : "",
          filevault_status: isOn ? "on" : "off",
        },
      ];
    },
  },
  {
    name: "logical_drives",
    platforms: WINDOWS,
    columns: {
      ...text("device_id type description"),
      ...bigint("free_space size"),
      ...text("file_system"),
      ...integer("boot_partition"),
    },
    rows: async () =>
      (await si.fsSize()).map(({ fs, type, size, available }) => ({
        device_id: fs,
        type: "Local Fixed Disk",
        description: "Local Fixed Disk",
        free_space: available,
        size,
        file_system: type,
        boot_partition: fs.toUpperCase() === (process.env.SystemDrive ?? "C:").toUpperCase() ? 1 : 0,
      })),
  },
  {
    name: "battery",
    platforms: ["darwin", "win32"],
    columns: {
      ...text("manufacturer manufacture_date model serial_number"),
      ...integer("cycle_count"),
      ...text("health condition state"),
      ...integer("charging charged designed_capacity max_capacity current_capacity percent_remaining amperage voltage"),
      ...integer("minutes_until_empty minutes_to_full_charge"),
      ...text("chemistry"),
    },
    async rows() {
      const battery = await si.battery();
      if (!battery.hasBattery) return [];
      return [
        {
          manufacturer: battery.manufacturer,
          model: battery.model,
          serial_number: battery.serial,
          cycle_count: battery.cycleCount,
          state: battery.acConnected ? "AC Power" : "Battery Power",
          charging: battery.isCharging ? 1 : 0,
          charged: battery.percent === 100 ? 1 : 0,
          designed_capacity: battery.designedCapacity,
          max_capacity: battery.maxCapacity,
          current_capacity: battery.currentCapacity,
          percent_remaining: battery.percent,
          voltage: Math.round(battery.voltage * 1000),
          chemistry: battery.type,
        },
      ];
    },
  },
];
