// The machine, its operating system, and the agent itself.
import { cpus, totalmem, uptime } from "node:os";
import si from "systeminformation";
import { readText } from "../machine/hardware.ts";
import { ALL, bigint, integer, type Table, text } from "./table.ts";

/** The version of osquery whose behaviour and columns the agent has. */
export const ENGINE_VERSION = "5.23.0";
/** Bits of the platform: posix and Linux, macOS with BSD, Windows. */
const MASKS: Partial<Record<NodeJS.Platform, number>> = { linux: 9, darwin: 21, win32: 2 };
export const platformMask = (): number => MASKS[process.platform] ?? 1;

const DARWIN_OR = (linux: string) =>
  process.platform === "darwin" ? "darwin" : process.platform === "win32" ? "windows" : linux;

export const systemTables: readonly Table[] = [
  {
    name: "system_info",
    platforms: ALL,
    columns: {
      ...text("hostname uuid cpu_type cpu_subtype cpu_brand"),
      ...integer("cpu_physical_cores cpu_logical_cores cpu_sockets"),
      ...text("cpu_microcode"),
      ...bigint("physical_memory"),
      ...text("hardware_vendor hardware_model hardware_version hardware_serial"),
      ...text("board_vendor board_model board_version board_serial computer_name local_hostname"),
      ...text("emulated_cpu_type"),
    },
    async rows({ hardware, os }) {
      const cpu = await si.cpu();
      return [
        {
          hostname: hardware.hostname,
          uuid: hardware.uuid,
          cpu_type: os.arch,
          cpu_subtype: cpu.model,
          cpu_brand: cpus()[0]?.model.trim() ?? cpu.brand,
          cpu_physical_cores: cpu.physicalCores,
          cpu_logical_cores: cpu.cores,
          cpu_sockets: cpu.processors,
          cpu_microcode: /^microcode\s*: (\S+)/m.exec(await readText("/proc/cpuinfo"))?.[1] ?? "",
          physical_memory: totalmem(),
          hardware_vendor: hardware.vendor,
          hardware_model: hardware.model,
          hardware_version: hardware.version,
          hardware_serial: hardware.serial,
          board_vendor: hardware.boardVendor,
          board_model: hardware.boardModel,
          board_version: hardware.boardVersion,
          board_serial: hardware.boardSerial,
          computer_name: hardware.computerName,
          local_hostname: hardware.computerName,
        },
      ];
    },
  },
  {
    name: "os_version",
    platforms: ALL,
    columns: {
      ...text("name version"),
      ...integer("major minor patch"),
      ...text("build platform platform_like codename arch extra"),
      ...bigint("install_date"),
    },
    rows: ({ os }) => [{ ...os }],
  },
  {
    name: "osquery_info",
    platforms: ALL,
    columns: {
      ...integer("pid"),
      ...text("uuid instance_id version config_hash"),
      ...integer("config_valid"),
      ...text("extensions build_platform build_distro"),
      ...integer("start_time watcher platform_mask"),
    },
    rows: ({ hardware, instanceId, startedAt, os }) => [
      {
        pid: process.pid,
        uuid: hardware.uuid,
        instance_id: instanceId,
        version: ENGINE_VERSION,
        config_hash: "",
        config_valid: 1,
        extensions: "inactive",
        build_platform: DARWIN_OR("linux"),
        build_distro: os.platform,
        start_time: startedAt,
        watcher: -1,
        platform_mask: platformMask(),
      },
    ],
  },
  {
    name: "platform_info",
    platforms: ALL,
    columns: {
      ...text("vendor version date revision extra address size"),
      ...integer("volume_size"),
      ...text("firmware_type"),
    },
    async rows() {
      const bios = await si.bios();
      if (bios.vendor === "" && bios.version === "") return [];
      const { vendor, version, releaseDate: date, revision } = bios;
      return [
        { vendor, version, date, revision, extra: "", address: "", size: "", volume_size: 0, firmware_type: "unknown" },
      ];
    },
  },
  {
    name: "orbit_info",
    platforms: ALL,
    columns: {
      ...text("version device_auth_token"),
      ...integer("enrolled"),
      ...text("last_recorded_error orbit_channel osqueryd_channel desktop_channel desktop_version"),
      ...bigint("uptime"),
      ...integer("scripts_enabled"),
    },
    rows: ({ agentVersion, startedAt, runsScripts }) => [
      {
        version: agentVersion,
        device_auth_token: "",
        enrolled: 1,
        last_recorded_error: "",
        orbit_channel: "",
        osqueryd_channel: "",
        desktop_channel: "",
        desktop_version: "",
        uptime: Math.floor(Date.now() / 1000) - startedAt,
        scripts_enabled: runsScripts ? 1 : 0,
      },
    ],
  },
  {
    name: "uptime",
    platforms: ALL,
    columns: { ...integer("days hours minutes seconds"), ...bigint("total_seconds") },
    rows() {
      const total = Math.floor(uptime());
      return [
        {
          days: Math.floor(total / 86_400),
          hours: Math.floor(total / 3600) % 24,
          minutes: Math.floor(total / 60) % 60,
          seconds: total % 60,
          total_seconds: total,
        },
      ];
    },
  },
  {
    name: "time",
    platforms: ALL,
    columns: {
      ...text("weekday"),
      ...integer("year month day hour minutes seconds"),
      ...text("timezone local_timezone"),
      ...integer("unix_time"),
      ...text("timestamp datetime iso_8601"),
      ...bigint("win_timestamp"),
    },
    rows() {
      const now = new Date();
      const iso = `${now.toISOString().slice(0, 19)}Z`;
      const [weekday, day, month, year, time] = now.toUTCString().replace(",", "").split(" ");
      return [
        {
          weekday: now.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" }),
          year: now.getUTCFullYear(),
          month: now.getUTCMonth() + 1,
          day: now.getUTCDate(),
          hour: now.getUTCHours(),
          minutes: now.getUTCMinutes(),
          seconds: now.getUTCSeconds(),
          timezone: "UTC",
          local_timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
          unix_time: Math.floor(now.getTime() / 1000),
          timestamp: `${weekday} ${month} ${day} ${time} ${year} UTC`,
          datetime: iso,
          iso_8601: iso,
          win_timestamp: null,
        },
      ];
    },
  },
  {
    name: "osquery_flags",
    platforms: ALL,
    columns: { ...text("name type description default_value value"), ...integer("shell_only") },
    rows: ({ flags }) =>
      Object.entries(flags).map(([name, value]) => ({
        name,
        type: /^(true|false)$/.test(value) ? "bool" : /^\d+$/.test(value) ? "uint64" : "string",
        description: "",
        default_value: "",
        value,
        shell_only: 0,
      })),
  },
  {
    name: "osquery_registry",
    platforms: ALL,
    columns: { ...text("registry name"), ...integer("owner_uuid internal active") },
    rows: ({ tables }) => [
      ...tables.map(({ name }) => ({ registry: "table", name, owner_uuid: 0, internal: 0, active: 1 })),
      ...["config", "logger", "distributed"].map((registry) => ({
        registry,
        name: "tls",
        owner_uuid: 0,
        internal: 0,
        active: 1,
      })),
    ],
  },
];
