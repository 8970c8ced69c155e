import { toNumber } from "../agent-protocol/numbers.ts";
import { type Row, text } from "../agent-protocol/rows.ts";
import type { InventorySource } from "../hosts/inventory/source.ts";

/** FileVault is on if at least one user can unlock the disk. */
const isEncryptedDarwin = (row: Row): boolean => (toNumber(row.unlocked_by) ?? 0) > 0;

/** Whether the disk mounted at "/" is encrypted; null if the agent did not report it. */
function isEncryptedLinux(rows: readonly Row[]): boolean | null {
  const root = rows.filter((row) => text(row, "path") === "/");
  return root.length === 0 ? null : root.some((row) => text(row, "encrypted").trim() === "1");
}

const isEncryptedWindows = (rows: readonly Row[]): boolean =>
  rows.some((row) => text(row, "protection_status").trim() === "1" && isDriveC(text(row, "drive_letter")));

export const isDriveC = (letter: string): boolean => letter === "" || /^c:?\\?$/i.test(letter.trim());

/** `isOn` is null if the agent reported other disks only. */
export const diskEncryptionInventory: InventorySource<{ readonly isOn: boolean | null }> = {
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
    if (windows !== null) return { isOn: isEncryptedWindows(windows) };
    const linux = rows("diskenc_linux");
    if (linux !== null) return { isOn: isEncryptedLinux(linux) };
    const darwin = single("diskenc_darwin");
    return darwin && { isOn: isEncryptedDarwin(darwin) };
  },
  hostFields: ({ isOn }) => ({ disk_encryption_enabled: isOn }),
};
