import type { Battery } from "../../../../api/hosts/host.ts";
import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { toCount, toNumber } from "../../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text } from "../../../platform/agent-protocol/rows.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { InventorySource } from "./source.ts";

const WORN_CYCLES = 1000;
const WORN_PERCENT = 80;

const capacity = (row: AgentRow, column: string): number =>
  text(row, column).trim() === "" ? 0 : (toNumber(row[column]) ?? 0);

function health(row: AgentRow, cycles: number, isMac: boolean): string {
  if (cycles >= WORN_CYCLES) return "Service recommended";
  const designed = capacity(row, "designed_capacity");
  const max = capacity(row, "max_capacity");
  if (max <= 0) return "Unknown";
  // On Apple silicon, agents before version 5.5 report the maximum in percent, and so does macOS 27 to all of them. The
  // designed capacity is in mAh then, in percent, or missing.
  if (isMac && max <= 100) return max < WORN_PERCENT ? "Service recommended" : "Normal";
  if (designed <= 0) return "Unknown";
  return max * 100 < WORN_PERCENT * designed ? "Service recommended" : "Normal";
}

export const batteriesLimit = limit({
  what: "batteries of a host",
  max: 16,
  unit: "entries",
  per: "host",
  beyond: "The rest is ignored.",
});

export function hostBatteries(rows: readonly AgentRow[], platform: string): Battery[] {
  return rows.slice(0, batteriesLimit.max).map((row) => {
    const cycles = toCount(row.cycle_count) ?? 0;
    return { cycle_count: cycles, health: health(row, cycles, platform === "darwin") };
  });
}

export const batteryInventory: InventorySource<Battery[]> = {
  queries: [
    {
      name: "battery",
      platforms: ["darwin", "windows"],
      discovery: tableExists("battery"),
      sql: "SELECT serial_number, cycle_count, designed_capacity, max_capacity FROM battery;",
    },
  ],
  read({ rows, platform }) {
    const batteryRows = rows("battery");
    return batteryRows && hostBatteries(batteryRows, platform);
  },
  details: (batteries) => ({ batteries }),
};
