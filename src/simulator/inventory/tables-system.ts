import { registryRows } from "./registry.ts";
import { ALL, columns, type TableSpec, WINDOWS } from "./table-spec.ts";

const CURRENT_VERSION = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
const ENROLLMENTS = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Enrollments";

/** The system, the agent itself and its settings. */
export const SYSTEM_TABLES: Readonly<Record<string, TableSpec>> = {
  os_version: {
    families: ALL,
    columns: columns("name version major minor patch build platform platform_like codename arch extra install_date"),
    rows: ({ machine: { platform, release } }) => [
      {
        name: release.name,
        version: release.version,
        major: release.major,
        minor: release.minor,
        patch: release.patch,
        build: release.build,
        platform: platform.platform,
        platform_like: platform.platformLike,
        codename: release.codename,
        arch: platform.family === "windows" ? "64-bit" : platform.family === "darwin" ? "arm64" : "x86_64",
        extra: "",
        install_date: platform.family === "windows" ? 1_690_000_000 : null,
      },
    ],
  },
  osquery_info: {
    families: ALL,
    columns: columns(
      "pid uuid instance_id version config_hash config_valid extensions build_platform build_distro start_time watcher platform_mask",
    ),
    rows: ({ machine, state }) => [
      {
        pid: 1000 + (machine.seed % 30_000),
        uuid: machine.uuid,
        instance_id: machine.instanceId,
        version: machine.agentVersion,
        config_hash: "",
        config_valid: 1,
        extensions: "active",
        build_platform: machine.platform.family,
        build_distro: machine.platform.distro,
        start_time: state.agentStartedAt,
        watcher: 900 + (machine.seed % 30_000),
        platform_mask: Number(machine.platformType),
      },
    ],
  },
  system_info: {
    families: ALL,
    columns: columns(
      "hostname uuid cpu_type cpu_subtype cpu_brand cpu_physical_cores cpu_logical_cores cpu_sockets cpu_microcode physical_memory " +
        "hardware_vendor hardware_model hardware_version hardware_serial board_vendor board_model board_version board_serial " +
        "computer_name local_hostname",
    ),
    rows: ({ machine }) => {
      const { hardware } = machine;
      const arm = machine.platform.family === "darwin";
      return [
        {
          hostname: machine.hostname,
          uuid: machine.uuid,
          cpu_type: arm ? "arm64e" : "x86_64",
          cpu_subtype: arm ? "ARM64E" : "158",
          cpu_brand: hardware.cpu,
          cpu_physical_cores: arm ? hardware.cores : Math.max(1, hardware.cores / 2),
          cpu_logical_cores: hardware.cores,
          cpu_sockets: arm ? null : 1,
          cpu_microcode: arm ? "" : "0xd000390",
          physical_memory: hardware.memoryGib * 1024 ** 3,
          hardware_vendor: hardware.vendor,
          hardware_model: hardware.model,
          hardware_version: arm ? "" : "1.0",
          hardware_serial: machine.serial,
          board_vendor: arm ? "" : hardware.vendor,
          board_model: arm ? "" : "0X1234",
          board_version: arm ? "" : "A00",
          board_serial: "",
          computer_name: machine.computerName,
          local_hostname: machine.hostname.split(".")[0] as string,
        },
      ];
    },
  },
  platform_info: {
    families: ALL,
    columns: columns("vendor version date revision extra address size volume_size firmware_type"),
    rows: ({ machine }) => [
      {
        vendor: machine.hardware.vendor,
        version: "1.14.2",
        date: "03/01/2024",
        revision: "1.14",
        extra: "",
        address: "0xe0000",
        size: 16_777_216,
        volume_size: 0,
        firmware_type: machine.platform.family === "darwin" ? "iboot" : "uefi",
      },
    ],
  },
  uptime: {
    families: ALL,
    columns: columns("days hours minutes seconds total_seconds"),
    rows: ({ state }) => {
      const total = Math.max(1, state.unixTime - state.bootedAt);
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
  time: {
    families: ALL,
    columns: columns("weekday year month day hour minutes seconds timezone unix_time timestamp iso_8601"),
    rows: ({ state }) => {
      const date = new Date(state.unixTime * 1000);
      return [
        {
          weekday: date.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" }),
          year: date.getUTCFullYear(),
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
          hour: date.getUTCHours(),
          minutes: date.getUTCMinutes(),
          seconds: date.getUTCSeconds(),
          timezone: "UTC",
          unix_time: state.unixTime,
          timestamp: date.toUTCString(),
          iso_8601: date.toISOString(),
        },
      ];
    },
  },
  osquery_flags: {
    families: ALL,
    columns: columns("name type description default_value value shell_only"),
    rows: ({ state }) =>
      Object.entries(state.flags).map(([name, value]) => ({
        name,
        type: /^(true|false)$/.test(value) ? "bool" : /^\d+$/.test(value) ? "uint64" : "string",
        description: "",
        default_value: "",
        value,
        shell_only: 0,
      })),
  },
  osquery_registry: {
    families: ALL,
    columns: columns("registry name owner_uuid internal active"),
    rows: (view) =>
      registryRows(view.machine, () => [
        ...view.tableNames().map((name) => ({ registry: "table", name, owner_uuid: 0, internal: 0, active: 1 })),
        ...["tls", "filesystem"].map((name) => ({
          registry: "config",
          name,
          owner_uuid: 0,
          internal: 1,
          active: Number(name === "tls"),
        })),
      ]),
  },
  osquery_schedule: {
    families: ALL,
    columns: columns(
      "name query interval executions last_executed denylisted output_size wall_time wall_time_ms last_wall_time_ms user_time " +
        "last_user_time system_time last_system_time average_memory last_memory",
    ),
    rows: ({ state }) =>
      state.schedule().map((item) => ({
        name: item.name,
        query: item.query,
        interval: item.interval,
        executions: item.executions,
        last_executed: item.lastExecuted,
        denylisted: 0,
        output_size: item.outputSize,
        wall_time: Math.floor(item.executions / 50),
        wall_time_ms: item.executions * 20,
        last_wall_time_ms: 20,
        user_time: item.executions * 9,
        last_user_time: 9,
        system_time: item.executions * 5,
        last_system_time: 5,
        average_memory: item.executions > 0 ? 262_144 : 0,
        last_memory: 262_144,
      })),
  },
  orbit_info: {
    families: ALL,
    managed: true,
    columns: columns(
      "version device_auth_token enrolled last_recorded_error orbit_channel osqueryd_channel desktop_channel desktop_version uptime " +
        "scripts_enabled",
    ),
    rows: ({ machine, state }) => [
      {
        version: "1.40.1",
        device_auth_token: machine.random(40).uuid(),
        enrolled: 1,
        last_recorded_error: "",
        orbit_channel: "stable",
        osqueryd_channel: "stable",
        desktop_channel: "stable",
        desktop_version: "1.40.1",
        uptime: state.unixTime - state.agentStartedAt,
        scripts_enabled: machine.runsScripts ? 1 : 0,
      },
    ],
  },
  registry: {
    families: WINDOWS,
    columns: columns("key path name type data mtime"),
    rows: ({ machine }) => {
      const { release } = machine;
      const server = release.name.includes("Server");
      const value = (key: string, name: string, data: string | number, type = "REG_SZ") => ({
        key,
        path: `${key}\\${name}`,
        name,
        type,
        data,
        mtime: 1_700_000_000,
      });
      const rows = [
        value(CURRENT_VERSION, "UBR", release.ubr ?? 0, "REG_DWORD"),
        value(CURRENT_VERSION, "DisplayVersion", release.displayVersion ?? ""),
        value(CURRENT_VERSION, "InstallationType", server ? "Server" : "Client"),
        value(CURRENT_VERSION, "CurrentBuild", release.build),
        value(CURRENT_VERSION, "ProductName", release.name.replace("Microsoft ", "")),
      ];
      const random = machine.random(41);
      if (server || !random.chance(0.3)) return rows;
      const key = `${ENROLLMENTS}\\${random.uuid().toUpperCase()}`;
      rows.push(
        value(key, "UPN", `${machine.owner}@example.com`),
        value(key, "DiscoveryServiceFullURL", "https://enrollment.manage.microsoft.com/enrollmentserver/discovery.svc"),
        value(key, "ProviderID", "MS DM Server"),
        value(key, "EnrollmentState", 1, "REG_DWORD"),
      );
      if (random.chance(0.5)) rows.push(value(key, "AADResourceID", "https://manage.microsoft.com/"));
      return rows;
    },
  },
};
