import type { Battery, HostUser } from "../../../api/host.ts";
import {
  type DetailResult,
  type DetailResults,
  has,
  type InventoryWarning,
  okRows,
  type Row,
  rowsOf,
  singleRow,
  text,
  type Warn,
} from "../../agent-protocol/rows.ts";
import { platformFamily, platformOfMask } from "../../core/platforms.ts";
import type { CertificateInventory, PackStats } from "../../hosts/details.ts";
import type { OsIdentity } from "../../hosts/os-versions.ts";
import { darwinMdm, type MdmInventory, windowsMdm } from "../../mdm-status/inventory.ts";
import { type MunkiInventory, munkiInventory } from "../../munki/inventory.ts";
import { hostBatteries } from "./batteries.ts";
import { hostCertificates } from "./certificates.ts";
import { answersFor } from "./detail-queries.ts";
import { isEncryptedDarwin, isEncryptedLinux, isEncryptedWindows, unixDiskSpace, windowsDiskSpace } from "./disks.ts";
import type { HostContext, InventoryFields } from "./fields.ts";
import { primaryInterface, publicAddress } from "./network.ts";
import { osIdentity, platformOf, type WindowsRelease, windowsRelease } from "./os-version.ts";
import { packStats } from "./pack-stats.ts";
import { isSameWindows, setAgent, setFlags, setOs, setSystem, setUptime } from "./setters.ts";
import { hostUsers } from "./users.ts";

/** The changes from a set of results. For null, or a field missing from `set`, the stored value is kept. */
export interface HostChanges {
  readonly set: Partial<InventoryFields>;
  readonly os: OsIdentity | null;
  readonly users: HostUser[] | null;
  readonly batteries: Battery[] | null;
  readonly mdm: MdmInventory | null;
  readonly munki: MunkiInventory | "removed" | null;
  /** Replaces the host's email addresses of source `browser_profiles`. */
  readonly browserEmails: string[] | null;
  readonly certificates: CertificateInventory[] | null;
  readonly packStats: PackStats[] | null;
  /** Any detail query was reported, even a failed one: updates `detail_updated_at`, clears `refetch_requested`. */
  readonly detailsReported: boolean;
  readonly warnings: readonly InventoryWarning[];
}

function setDisks(set: Partial<InventoryFields>, answers: Answers): void {
  const unix = answers.single("disk_unix");
  if (unix !== null) Object.assign(set, unixDiskSpace(unix));
  const windows = answers.single("disk_windows");
  if (windows !== null) Object.assign(set, windowsDiskSpace(windows));

  const darwinEncryption = answers.single("diskenc_darwin");
  if (darwinEncryption !== null) set.disk_encryption_enabled = isEncryptedDarwin(darwinEncryption);
  const linuxEncryption = answers.rows("diskenc_linux");
  if (linuxEncryption !== null) set.disk_encryption_enabled = isEncryptedLinux(linuxEncryption);
  const windowsEncryption = answers.rows("diskenc_windows");
  if (windowsEncryption !== null) set.disk_encryption_enabled = isEncryptedWindows(windowsEncryption);
}

/** The results that apply to the platform of this host. */
interface Answers {
  rows(key: string): readonly Row[] | null;
  single(key: string): Row | null;
}

function answersOf(results: DetailResults, platform: string, platformLike: string, warn: Warn): Answers {
  const family = platformFamily(platform, platformLike);
  return {
    rows: (key) => (answersFor(key, family) ? okRows(results, key) : null),
    single: (key) => (answersFor(key, family) ? singleRow(results, key, warn) : null),
  };
}

/** Computes the changes to a host from the results of a distributed write (or of an enrollment, by `enrollChanges`). */
export function hostChanges(results: DetailResults, ctx: HostContext): HostChanges {
  const warnings: InventoryWarning[] = [];
  const warn: Warn = (query, reason) => warnings.push({ query, reason });
  const set: Partial<InventoryFields> = {};

  const os = singleRow(results, "os_version", warn);
  const platform = (os && platformOf(os)) || ctx.known.platform || "";
  const platformLike = (os && text(os, "platform_like")) || ctx.known.platform_like || "";
  const answers = answersOf(results, platform, platformLike, warn);
  const registry = answers.rows("os_windows");
  const release = registry === null ? null : windowsRelease(registry);
  if (os !== null) setOs(set, os, release, ctx);

  const agent = answers.single("qengine_info");
  if (agent !== null && has(agent, "version")) set.qengine_version = text(agent, "version");
  const system = answers.single("system_info");
  if (system !== null) setSystem(set, system, ctx.known);
  const uptime = answers.single("uptime");
  if (uptime !== null) setUptime(set, uptime, ctx.now);
  const flags = answers.rows("flags");
  if (flags !== null) setFlags(set, flags);
  Object.assign(set, primaryInterface(answers.rows("net_unix") ?? answers.rows("net_windows") ?? []));
  setDisks(set, answers);
  setManagedAgent(set, results, answers);
  if (results.size > 0) set.public_ip = publicAddress(ctx.publicIp);

  const list = <T>(key: string, read: (rows: readonly Row[]) => T): T | null => {
    const rows = answers.rows(key);
    return rows === null ? null : read(rows);
  };
  return {
    set,
    os: os === null ? null : changedOs(os, platform, release, ctx.known.os_version ?? ""),
    users: list("users", (rows) => hostUsers(rows, warn)),
    batteries: list("battery", hostBatteries),
    mdm:
      list("mdm_darwin", (rows) => darwinMdm(rows, ctx.ownMdm, warn)) ??
      list("mdm_windows", (rows) => windowsMdm(rows, release === null ? null : release.installationType, ctx.ownMdm)),
    munki: list("munki", (rows) => munkiInventory(rows, warn)),
    browserEmails: list("chrome_profiles", browserEmails),
    certificates:
      list("certificates_darwin", (rows) => hostCertificates(rows, "darwin")) ??
      list("certificates_windows", (rows) => hostCertificates(rows, "windows")),
    packStats: list("schedule_stats", (rows) => packStats(rows, warn)),
    detailsReported: results.size > 0,
    warnings,
  };
}

function changedOs(row: Row, platform: string, release: WindowsRelease | null, known: string): OsIdentity | null {
  const keepsBuild = platform === "windows" && release === null && isSameWindows(row, known);
  return keepsBuild ? null : osIdentity(row, platform, release);
}

/** If a full set of details lacks this query, its table is missing, so the managed agent is not installed. */
function setManagedAgent(set: Partial<InventoryFields>, results: DetailResults, answers: Answers): void {
  const row = answers.single("agent_info");
  const isFullSet = results.has("uptime") && results.has("flags");
  if (row !== null || (isFullSet && !results.has("agent_info"))) setAgent(set, row);
}

function browserEmails(rows: readonly Row[]): string[] {
  const emails = new Set(rows.map((row) => text(row, "email").trim()));
  emails.delete("");
  return [...emails].sort();
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
  const changes = hostChanges(results, ctx);
  const platform = platformOfMask(platformType);
  if (!changes.set.platform && !ctx.known.platform && platform !== "") changes.set.platform = platform;
  return changes;
}
