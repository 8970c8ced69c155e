import { firmwareText, hardwareUuid, serialNumber } from "../../../../agent-wire/firmware.ts";
import { displayName, type HostContext, type InventoryFields } from "../../../hosts/hosts/inventory-fields.ts";
import { msToIso, toCount, toInt, toSeconds } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, has, text } from "../../../platform/agent-protocol/rows.ts";
import { platformOf, unixOsVersion, type WindowsRelease, windowsName, windowsOsVersion } from "./os-version.ts";

const osColumns = { platform_like: "platform_like", code_name: "codename", build: "build" } as const;
const systemColumns = {
  hostname: "hostname",
  uuid: "uuid",
  computer_name: "computer_name",
  cpu_type: "cpu_type",
  cpu_subtype: "cpu_subtype",
  cpu_brand: "cpu_brand",
  hardware_vendor: "hardware_vendor",
  hardware_model: "hardware_model",
  hardware_version: "hardware_version",
} as const;

type CopiedField = keyof typeof osColumns | keyof typeof systemColumns;

const meanings: Readonly<Partial<Record<CopiedField, (cell: string) => string>>> = {
  uuid: hardwareUuid,
  hardware_vendor: firmwareText,
  hardware_model: firmwareText,
  hardware_version: firmwareText,
};

/** Copies columns to fields. What is missing, blank or a placeholder is unknown, and leaves its field unchanged. */
function copyText(
  set: Partial<InventoryFields>,
  row: AgentRow,
  columns: Readonly<Partial<Record<CopiedField, string>>>,
) {
  for (const [name, column] of Object.entries(columns)) {
    const field = name as CopiedField;
    const cell = text(row, column);
    const value = meanings[field]?.(cell) ?? cell;
    if (value.trim() !== "") set[field] = value;
  }
}

export function setSystem(set: Partial<InventoryFields>, row: AgentRow, existing: HostContext["stored"]): void {
  copyText(set, row, systemColumns);
  const serial = serialNumber(text(row, "hardware_serial"));
  if (serial !== "") set.hardware_serial = serial;
  // No host has 0 of these: the agent could not read them.
  for (const field of ["cpu_physical_cores", "cpu_logical_cores"] as const)
    if (has(row, field)) set[field] = toInt(row[field], 0, 1_000_000) || (existing[field] ?? 0);
  if (has(row, "physical_memory")) set.memory = toCount(row.physical_memory) || (existing.memory ?? 0);
  set.display_name = displayName({ ...existing, ...set });
}

export function setUptime(set: Partial<InventoryFields>, row: AgentRow, now: number): void {
  const seconds = toSeconds(row.total_seconds);
  if (seconds === null) return;
  set.uptime = seconds * 1e9;
  set.last_restarted_at = seconds === 0 ? null : msToIso(now - seconds * 1000);
}

export function setFlags(set: Partial<InventoryFields>, rows: readonly AgentRow[]): void {
  const flags = new Map<string, number>();
  for (const row of rows) {
    const seconds = toSeconds(row.value);
    if (seconds !== null) flags.set(text(row, "name"), seconds);
  }
  const refresh = flags.get("config_tls_refresh") ?? flags.get("config_refresh");
  const interval = flags.get("distributed_interval");
  const period = flags.get("logger_tls_period");
  if (interval !== undefined) set.distributed_interval = interval;
  if (refresh !== undefined) set.config_tls_refresh = refresh;
  if (period !== undefined) set.logger_tls_period = period;
}

export function setOs(
  set: Partial<InventoryFields>,
  row: AgentRow,
  release: WindowsRelease | null,
  ctx: HostContext,
): void {
  copyText(set, row, osColumns);
  const platform = platformOf(row) || ctx.stored.platform || "";
  if (platform !== "") set.platform = platform;
  if (text(row, "name").trim() === "") return;
  if (platform !== "windows") {
    set.os_version = unixOsVersion(row);
    return;
  }
  if (release !== null || !isSameWindows(row, ctx.stored.os_version ?? ""))
    set.os_version = windowsOsVersion(row, release);
}

/** Whether `osVersion` names this release. If so, it is kept while the registry query fails, so that the build stays. */
export function isSameWindows(row: AgentRow, osVersion: string): boolean {
  const version = text(row, "version").trim();
  const name = windowsName(row);
  return (
    osVersion.startsWith(`${name} `) &&
    osVersion.split(" ").some((word) => word === version || word.startsWith(`${version}.`))
  );
}
