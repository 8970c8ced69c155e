import { hashText } from "../random.ts";
import { columns, DARWIN, type TableSpec, UNIX, WINDOWS } from "./table-spec.ts";
import type { MachineView } from "./view.ts";

const GIB = 1024 ** 3;

/** Disk size and free space. The free space varies slightly from hour to hour. */
function disk({ machine, state }: MachineView): { size: number; free: number } {
  const random = machine.random(50);
  const size = random.pick([128, 256, 512, 1024]) * 1_000_000_000;
  const share = 0.1 + random.next() * 0.7;
  const wander = (hashText(`${machine.seed}/${Math.floor(state.unixTime / 3600)}`) % 1000) / 50_000;
  return { size, free: Math.floor(size * (share + wander)) };
}

const encrypted = ({ machine }: MachineView) =>
  machine.random(51).chance(machine.platform.family === "linux" ? 0.4 : 0.85);

const DISK_ENCRYPTION = columns("name uuid encrypted type encryption_status uid user_uuid filevault_status");

/** Disks, encryption, batteries and hardware state. */
export const DEVICE_TABLES: Readonly<Record<string, TableSpec>> = {
  mounts: {
    families: UNIX,
    columns: columns(
      "device device_alias path type blocks_size blocks blocks_free blocks_available inodes inodes_free flags",
    ),
    rows: (view) => {
      const mac = view.machine.platform.family === "darwin";
      const { size, free } = disk(view);
      const mount = (device: string, path: string, type: string, bytes: number, bytesFree: number) => ({
        device,
        device_alias: device,
        path,
        type,
        blocks_size: 4096,
        blocks: Math.floor(bytes / 4096),
        blocks_free: Math.floor(bytesFree / 4096),
        blocks_available: Math.floor(bytesFree / 4096),
        inodes: Math.floor(bytes / 16_384),
        inodes_free: Math.floor(bytesFree / 16_384),
        flags: "rw,relatime",
      });
      if (mac)
        return [
          mount("/dev/disk3s1s1", "/", "apfs", size, free),
          mount("/dev/disk3s5", "/System/Volumes/Data", "apfs", size, free),
        ];
      const root = encrypted(view) ? "/dev/mapper/root" : "/dev/sda2";
      return [
        mount(root, "/", "ext4", size, free),
        mount("/dev/sda1", "/boot", "ext4", GIB, 0.7 * GIB),
        mount("tmpfs", "/run", "tmpfs", GIB, GIB),
      ];
    },
  },
  disk_encryption: {
    families: UNIX,
    columns: DISK_ENCRYPTION,
    rows: (view) => {
      const on = encrypted(view);
      const row = (name: string, isOn: boolean, type: string) => ({
        name,
        uuid: "",
        encrypted: Number(isOn),
        type,
        encryption_status: isOn ? "encrypted" : "not encrypted",
        uid: "",
        user_uuid: "",
        filevault_status: "",
      });
      if (view.machine.platform.family === "linux") {
        const root = on ? "/dev/mapper/root" : "/dev/sda2";
        return [row(root, on, on ? "LUKS2" : ""), row("/dev/sda1", false, "")];
      }
      const vault = {
        filevault_status: on ? "on" : "off",
        user_uuid: on ? view.machine.random(52).uuid() : "",
        uid: 501,
      };
      return [
        { ...row("/dev/disk3s1s1", on, "APFS"), ...vault },
        { ...row("/dev/disk3s5", on, "APFS"), ...vault },
      ];
    },
  },
  logical_drives: {
    families: WINDOWS,
    columns: columns("device_id type description free_space size file_system boot_partition"),
    rows: (view) => {
      const { size, free } = disk(view);
      const drive = { type: "Local Fixed Disk", description: "Local Fixed Disk", boot_partition: 1 };
      return [
        { device_id: "C:", ...drive, free_space: free, size, file_system: "NTFS" },
        { device_id: "E:", ...drive, free_space: 0, size: 700_000_000, file_system: "UDF", boot_partition: 0 },
      ];
    },
  },
  bitlocker_info: {
    families: WINDOWS,
    columns: columns(
      "device_id drive_letter persistent_volume_id conversion_status protection_status encryption_method version " +
        "percentage_encrypted lock_status",
    ),
    rows: (view) => {
      const on = Number(encrypted(view));
      return [
        {
          device_id: "\\\\?\\Volume{1}\\",
          drive_letter: "C:",
          persistent_volume_id: "",
          conversion_status: on,
          protection_status: on,
          encryption_method: on ? "XTS-AES 128" : "None",
          version: on * 2,
          percentage_encrypted: on * 100,
          lock_status: 0,
        },
      ];
    },
  },
  windows_optional_features: {
    families: WINDOWS,
    columns: columns("name caption state statename"),
    rows: ({ machine }) => {
      // On a few machines the feature is turned off: queries must not use their BitLocker table.
      const off = machine.random(53).chance(0.05);
      const feature = (name: string, state: number) => ({
        name,
        caption: name,
        state,
        statename: state === 1 ? "Enabled" : "Disabled",
      });
      return [
        feature("BitLocker", off ? 2 : 1),
        feature("NetFx3", 2),
        feature("TelnetClient", 2),
        feature("Printing-PrintToPDFServices-Features", 1),
      ];
    },
  },
  battery: {
    families: ["darwin", "windows"],
    columns: columns(
      "manufacturer manufacture_date model serial_number cycle_count health condition state charging charged designed_capacity " +
        "max_capacity current_capacity percent_remaining amperage voltage",
    ),
    rows: ({ machine }) => {
      if (!machine.hardware.battery) return [];
      const random = machine.random(54);
      const max = random.int(3500, 5000);
      return [
        {
          manufacturer: machine.hardware.vendor,
          manufacture_date: 1_650_000_000,
          model: "bq40z651",
          serial_number: `B${random.hex(12).toUpperCase()}`,
          cycle_count: random.int(5, 1100),
          health: "Good",
          condition: "Normal",
          state: "AC Power",
          charging: 0,
          charged: 1,
          designed_capacity: 5000,
          max_capacity: max,
          current_capacity: max,
          percent_remaining: 100,
          amperage: 0,
          voltage: 12_800,
        },
      ];
    },
  },
  alf: {
    families: DARWIN,
    columns: columns(
      "allow_signed_enabled firewall_unload global_state logging_enabled logging_option stealth_enabled version",
    ),
    rows: ({ machine }) => [
      {
        allow_signed_enabled: 1,
        firewall_unload: 0,
        global_state: Number(machine.random(55).chance(0.8)),
        logging_enabled: 1,
        logging_option: 0,
        stealth_enabled: 0,
        version: "1.6",
      },
    ],
  },
  sip_config: {
    families: DARWIN,
    columns: columns("config_flag enabled enabled_nvram"),
    rows: ({ machine }) => [{ config_flag: "sip", enabled: Number(machine.random(56).chance(0.97)), enabled_nvram: 1 }],
  },
  gatekeeper: {
    families: DARWIN,
    columns: columns("assessments_enabled dev_id_enabled version opaque_version"),
    rows: ({ machine }) => [
      {
        assessments_enabled: Number(machine.random(57).chance(0.95)),
        dev_id_enabled: 1,
        version: "181",
        opaque_version: "94",
      },
    ],
  },
  windows_security_center: {
    families: WINDOWS,
    columns: columns(
      "firewall autoupdate antivirus antispyware internet_settings windows_security_center_service user_account_control",
    ),
    rows: ({ machine }) => {
      const state = (topic: number) => (machine.random(topic).chance(0.9) ? "Good" : "Poor");
      return [
        {
          firewall: state(58),
          autoupdate: "Good",
          antivirus: state(59),
          antispyware: "Good",
          internet_settings: "Good",
          windows_security_center_service: "Good",
          user_account_control: "Good",
        },
      ];
    },
  },
};
