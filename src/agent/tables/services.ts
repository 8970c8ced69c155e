// What starts by itself, and the kernel.
import { loadavg, release } from "node:os";
import { linesOf, mapFew, namesIn, outputOf, readOr } from "./read.ts";
import { ALL, bigint, integer, LINUX, type Table, type TableRow, text, UNIX } from "./table.ts";

const UNIT_PROPERTIES = {
  Id: "id",
  Description: "description",
  LoadState: "load_state",
  ActiveState: "active_state",
  SubState: "sub_state",
  Following: "following",
  FragmentPath: "fragment_path",
  User: "user",
  SourcePath: "source_path",
  UnitFileState: "unit_file_state",
};

/** The bus writes characters of paths other than letters and digits as hexadecimal numbers. */
const objectPath = (id: string) =>
  `/org/freedesktop/systemd1/unit/${id.replace(/[^A-Za-z0-9]/g, (character) => `_${character.charCodeAt(0).toString(16)}`)}`;

async function systemdUnits(): Promise<TableRow[]> {
  const names = Object.keys(UNIT_PROPERTIES);
  const output = await outputOf("systemctl", ["show", "*", "--all", "--no-pager", `--property=${names.join(",")}`]);
  return output.split("\n\n").flatMap((block) => {
    const values = new Map(block.split("\n").map((line) => line.split(/=(.*)/s, 2) as [string, string]));
    const id = values.get("Id");
    if (!id) return [];
    const row = Object.entries(UNIT_PROPERTIES).map(([name, column]) => [column, values.get(name) ?? ""]);
    return [{ ...Object.fromEntries(row), object_path: objectPath(id), job_id: 0, job_type: "", job_path: "/" }];
  });
}

/** Everybody may have a crontab. */
const CRONTAB_BYTES = 1024 * 1024;
const CRONTAB_ROWS = 2_000;

const NAMED = /^\s*(@\w+)\s+(.*)$/;
const TIMED = /^\s*([\d*]\S*)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(.*)$/;

export function crontabRows(content: string, path: string): TableRow[] {
  return content.split("\n").flatMap((line) => {
    const [, event, named] = NAMED.exec(line) ?? [];
    const empty = { minute: "", hour: "", day_of_month: "", month: "", day_of_week: "" };
    if (event !== undefined) return [{ event, ...empty, command: named!, path }];
    const [, minute, hour, day_of_month, month, day_of_week, command] = TIMED.exec(line) ?? [];
    return command === undefined ? [] : [{ event: "", minute, hour, day_of_month, month, day_of_week, command, path }];
  });
}

async function crontab(): Promise<TableRow[]> {
  const folders = ["/etc/cron.d", "/var/spool/cron/crontabs", "/var/spool/cron", "/var/at/tabs", "/usr/lib/cron/tabs"];
  const files = await mapFew(folders, async (folder) => (await namesIn(folder)).map((name) => `${folder}/${name}`));
  const rows = await mapFew(["/etc/crontab", ...files.flat()], async (path) =>
    crontabRows(await readOr(path, "", CRONTAB_BYTES), path).slice(0, CRONTAB_ROWS),
  );
  return rows.flat();
}

const EFI = "/sys/firmware/efi/efivars";

export const serviceTables: readonly Table[] = [
  {
    name: "systemd_units",
    platforms: LINUX,
    columns: {
      ...text("id description load_state active_state sub_state following object_path"),
      ...bigint("job_id"),
      ...text("job_type job_path fragment_path user source_path unit_file_state"),
    },
    rows: systemdUnits,
  },
  {
    name: "crontab",
    platforms: UNIX,
    columns: text("event minute hour day_of_month month day_of_week command path"),
    rows: crontab,
  },
  {
    name: "kernel_info",
    platforms: ALL,
    columns: text("version arguments path device"),
    async rows() {
      const words = (await readOr("/proc/cmdline")).trim().split(" ");
      const wordOf = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
      const bootloaderWord = /^(BOOT_IMAGE|root)=/;
      return [
        {
          version: release(),
          arguments: words.filter((word) => !bootloaderWord.test(word)).join(" "),
          path: wordOf("BOOT_IMAGE"),
          device: wordOf("root"),
        },
      ];
    },
  },
  {
    name: "kernel_modules",
    platforms: LINUX,
    columns: { ...text("name"), ...bigint("size"), ...text("used_by status address") },
    rows: async () =>
      (await linesOf("/proc/modules")).map((line) => {
        const [name, size, , users = "-", status, address] = line.split(" ");
        return {
          name: name!,
          size: Number(size),
          used_by: users.replace(/,$/, ""),
          status: status!,
          address: address!,
        };
      }),
  },
  {
    name: "memory_info",
    platforms: LINUX,
    columns: bigint(
      "memory_total memory_free memory_available buffers cached swap_cached active inactive swap_total swap_free",
    ),
    async rows() {
      const values = await readOr("/proc/meminfo");
      const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(values)?.[1] ?? 0) * 1024;
      return [
        {
          memory_total: bytes("MemTotal"),
          memory_free: bytes("MemFree"),
          memory_available: bytes("MemAvailable"),
          buffers: bytes("Buffers"),
          cached: bytes("Cached"),
          swap_cached: bytes("SwapCached"),
          active: bytes("Active"),
          inactive: bytes("Inactive"),
          swap_total: bytes("SwapTotal"),
          swap_free: bytes("SwapFree"),
        },
      ];
    },
  },
  {
    name: "load_average",
    platforms: UNIX,
    columns: text("period average"),
    rows: () => loadavg().map((average, i) => ({ period: ["1m", "5m", "15m"][i]!, average: average.toFixed(6) })),
  },
  {
    name: "secureboot",
    platforms: LINUX,
    columns: {
      ...integer("secure_boot secure_mode"),
      ...text("description"),
      ...integer("kernel_extensions mdm_operations setup_mode"),
    },
    async rows() {
      const names = await namesIn(EFI);
      const variable = async (start: string) => {
        const name = names.find((candidate) => candidate.startsWith(`${start}-`));
        // Four bytes of attributes come first.
        return name === undefined ? null : (await readOr(`${EFI}/${name}`)).charCodeAt(4);
      };
      const [secure_boot, setup_mode] = await Promise.all([variable("SecureBoot"), variable("SetupMode")]);
      return secure_boot === null ? [] : [{ secure_boot, setup_mode }];
    },
  },
  {
    name: "osquery_schedule",
    platforms: ALL,
    columns: {
      ...text("name query"),
      ...integer("interval"),
      ...bigint("executions last_executed"),
      ...integer("denylisted"),
      ...bigint(
        "output_size wall_time wall_time_ms last_wall_time_ms user_time last_user_time system_time last_system_time",
      ),
      ...bigint("average_memory last_memory"),
    },
    rows: () => [],
  },
];
