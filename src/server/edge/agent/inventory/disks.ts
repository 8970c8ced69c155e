import { toCount } from "../../../platform/agent-protocol/numbers.ts";
import type { AgentRow } from "../../../platform/agent-protocol/rows.ts";

interface DiskSpace {
  readonly gigs_total_disk_space: number;
  readonly gigs_disk_space_available: number;
  readonly percent_disk_space_available: number;
}

const GIGA = 1e9;
const twoDecimals = (value: number): number => Math.round(value * 100) / 100;
const percent = (value: number): number => Math.min(100, Math.max(0, value));

/** Null (keep the stored values) if a column is not a number. */
export function unixDiskSpace(row: AgentRow): DiskSpace | null {
  const blocks = toCount(row.blocks);
  const available = toCount(row.blocks_available);
  const size = toCount(row.blocks_size);
  if (blocks === null || available === null || size === null) return null;
  return {
    gigs_total_disk_space: twoDecimals((blocks * size) / GIGA),
    gigs_disk_space_available: twoDecimals((available * size) / GIGA),
    percent_disk_space_available: blocks === 0 ? 0 : percent(Math.floor((available * 100) / blocks)),
  };
}

export function windowsDiskSpace(row: AgentRow): DiskSpace | null {
  const total = toCount(row.total_bytes);
  const free = toCount(row.free_bytes);
  if (total === null || free === null) return null;
  return {
    gigs_total_disk_space: Math.round(total / GIGA),
    gigs_disk_space_available: Math.round(free / GIGA),
    percent_disk_space_available: total === 0 ? 0 : percent(Math.round((free * 100) / total)),
  };
}
