import type { Answers } from "../../../hosts/hosts/inventory/source.ts";
import type { HostContext, InventoryFields } from "../../../hosts/hosts/inventory-fields.ts";
import type { OsIdentity } from "../../../hosts/hosts/os-versions.ts";
import {
  type AgentRow,
  type DetailResult,
  type DetailResults,
  type InventoryWarning,
  okRows,
  rowsOf,
  singleRow,
  text,
  type Warn,
} from "../../../platform/agent-protocol/rows.ts";
import { type PlatformFamily, platformFamily, platformOfMask } from "../../../platform/core/platforms.ts";
import { unixDiskSpace, windowsDiskSpace } from "./disks.ts";
import { primaryInterface, publicAddress } from "./network.ts";
import { osIdentity, platformOf, type WindowsRelease, windowsRelease } from "./os-version.ts";
import { isSameWindows, setFlags, setOs, setSystem, setUptime } from "./setters.ts";

/** The changes from a set of results. A field missing from `set` keeps its stored value. */
export interface HostChanges {
  readonly set: Partial<InventoryFields>;
  /** Null: the stored one is kept. */
  readonly os: OsIdentity | null;
  /** The results, for the sources of inventory. */
  readonly answers: Answers;
  readonly warnings: readonly InventoryWarning[];
}

/** Whether results of a query apply to hosts of a family. */
type Applies = (query: string, family: PlatformFamily) => boolean;

function setDisks(set: Partial<InventoryFields>, answers: Answers): void {
  const unix = answers.single("disk_unix");
  if (unix !== null) Object.assign(set, unixDiskSpace(unix));
  const windows = answers.single("disk_windows");
  if (windows !== null) Object.assign(set, windowsDiskSpace(windows));
}

/** Computes the changes to a host from the results of a distributed write (or of an enrollment, by `enrollChanges`). */
export function hostChanges(results: DetailResults, applies: Applies, ctx: HostContext): HostChanges {
  const warnings: InventoryWarning[] = [];
  const warn: Warn = (query, reason) => warnings.push({ query, reason });
  const set: Partial<InventoryFields> = {};

  const os = singleRow(results, "os_version", warn);
  const platform = (os && platformOf(os)) || ctx.stored.platform || "";
  const platformLike = (os && text(os, "platform_like")) || ctx.stored.platform_like || "";
  const family = platformFamily(platform, platformLike);
  const answers: Answers = {
    platform,
    platformLike,
    results,
    rows: (query) => (applies(query, family) ? okRows(results, query) : null),
    single: (query) => (applies(query, family) ? singleRow(results, query, warn) : null),
    warn,
  };
  const registry = answers.rows("os_windows");
  const release = registry === null ? null : windowsRelease(registry);
  if (os !== null) setOs(set, os, release, ctx);

  const agent = answers.single("qengine_info");
  if (agent !== null && text(agent, "version").trim() !== "") set.qengine_version = text(agent, "version");
  const system = answers.single("system_info");
  if (system !== null) setSystem(set, system, ctx.stored);
  const uptime = answers.single("uptime");
  if (uptime !== null) setUptime(set, uptime, ctx.now);
  const flags = answers.rows("flags");
  if (flags !== null) setFlags(set, flags);
  Object.assign(set, primaryInterface(answers.rows("net_unix") ?? answers.rows("net_windows") ?? []));
  setDisks(set, answers);
  if (results.size > 0) set.public_ip = publicAddress(ctx.publicIp);
  return {
    set,
    os: os === null ? null : changedOs(os, platform, release, ctx.stored.os_version ?? ""),
    answers,
    warnings,
  };
}

function changedOs(
  row: AgentRow,
  platform: string,
  release: WindowsRelease | null,
  osVersion: string,
): OsIdentity | null {
  const keepsBuild = platform === "windows" && release === null && isSameWindows(row, osVersion);
  return keepsBuild ? null : osIdentity(row, platform, release);
}

const enrollTables = [
  ["os_version", "os_version"],
  ["osquery_info", "qengine_info"],
  ["system_info", "system_info"],
] as const;

/**
 * Reads the host details of an enrollment, so that the platform is known before the first distributed read. Missing
 * columns keep their stored values.
 */
export function enrollChanges(hostDetails: unknown, platformType: unknown, ctx: HostContext): HostChanges {
  const details = rowsOf([hostDetails])[0] ?? {};
  const results = new Map<string, DetailResult>();
  for (const [table, key] of enrollTables) {
    const row = rowsOf([details[table]])[0];
    if (row !== undefined) results.set(key, { ok: true, rows: [row] });
  }
  const changes = hostChanges(results, () => true, ctx);
  const platform = platformOfMask(platformType);
  if (!changes.set.platform && !ctx.stored.platform && platform !== "") changes.set.platform = platform;
  return changes;
}
