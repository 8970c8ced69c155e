import { toNumber } from "../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text } from "../../platform/agent-protocol/rows.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import { type InventorySource, NOTHING_TO_WRITE, type SourceWriter } from "../hosts/inventory/source.ts";

/** FileVault is on if at least one user can unlock the disk. */
const isEncryptedDarwin = (row: AgentRow): boolean => (toNumber(row.unlocked_by) ?? 0) > 0;

/** Whether the disk mounted at "/" is encrypted; null if the agent did not report it. */
function isEncryptedLinux(rows: readonly AgentRow[]): boolean | null {
  const root = rows.filter((row) => text(row, "path") === "/");
  return root.length === 0 ? null : root.some((row) => text(row, "encrypted").trim() === "1");
}

/** Win32_EncryptableVolume.GetConversionStatus: Windows encrypts the disk, or was stopped while it did so. */
const ENCRYPTING = ["2", "4"];

const windowsDisk = (rows: readonly AgentRow[]): DiskReport => {
  const driveC = rows.filter((row) => isDriveC(text(row, "drive_letter")));
  return {
    isOn: driveC.some((row) => text(row, "protection_status").trim() === "1"),
    isEncrypting: driveC.some((row) => ENCRYPTING.includes(text(row, "conversion_status").trim())),
  };
};

export const isDriveC = (letter: string): boolean => letter === "" || /^c:?\\?$/i.test(letter.trim());

interface DiskReport {
  /** Null: the agent reported other disks only. */
  readonly isOn: boolean | null;
  /** BitLocker protects a disk only once all of it is encrypted. */
  readonly isEncrypting: boolean;
}

/** The states of disks are compared as soon as a report has changed what they depend on. */
function startWriter({ store }: Services): SourceWriter<DiskReport> {
  return {
    async plan(reported) {
      const where = oneOf(
        "id",
        reported.map(({ hostId }) => hostId),
      );
      const [hosts, disks] = await Promise.all([
        store.hosts.pick(["id", "disk_encryption_enabled"], { where }),
        store.hostDiskEncryption.pick(["id", "is_encrypting"], { where }),
      ]);
      const [hostOf, diskOf] = [byId(hosts), byId(disks)];
      const encrypting = reported.filter(
        ({ hostId, value }) => value.isEncrypting !== (diskOf.get(hostId)?.is_encrypting ?? false),
      );
      const isSame = reported.every(
        ({ hostId, value }) => value.isOn === (hostOf.get(hostId)?.disk_encryption_enabled ?? null),
      );
      if (isSame && encrypting.length === 0) return NOTHING_TO_WRITE;
      return {
        async write(tx) {
          await tx.hostDiskEncryption.upsert(
            encrypting.map(({ hostId, value }) => ({ id: hostId, is_encrypting: value.isEncrypting })),
            { on: ["id"], set: ["is_encrypting"], returning: [] },
          );
          await tx.notify(channels.diskKeys, "");
        },
      };
    },
  };
}

export const diskEncryptionInventory: InventorySource<DiskReport> = {
  queries: [
    {
      name: "diskenc_darwin",
      platforms: ["darwin"],
      sql: "SELECT COUNT(*) AS unlocked_by FROM disk_encryption WHERE filevault_status = 'on' AND user_uuid <> '';",
    },
    {
      // The server selects the path, because filtering in SQL has returned wrong rows.
      name: "diskenc_linux",
      platforms: ["linux"],
      sql: "SELECT m.path, e.name, e.encrypted FROM mounts AS m JOIN disk_encryption AS e ON e.name = m.device_alias;",
    },
    {
      // With the BitLocker feature off, reading this table can crash the agent.
      name: "diskenc_windows",
      platforms: ["windows"],
      discovery:
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM windows_optional_features WHERE name = 'BitLocker' AND state <> 1);",
      needs: { platform: "windows", agent: [4, 3] },
      sql: "SELECT drive_letter, protection_status, conversion_status FROM bitlocker_info WHERE drive_letter = 'C:';",
    },
  ],
  read({ rows, single }) {
    const windows = rows("diskenc_windows");
    if (windows !== null) return windowsDisk(windows);
    const linux = rows("diskenc_linux");
    if (linux !== null) return { isOn: isEncryptedLinux(linux), isEncrypting: false };
    const darwin = single("diskenc_darwin");
    return darwin && { isOn: isEncryptedDarwin(darwin), isEncrypting: false };
  },
  hostFields: ({ isOn }) => ({ disk_encryption_enabled: isOn }),
  start: startWriter,
};
