// Whether the disk of a Windows host needs a PIN before Windows starts.
import { tableExists } from "../../platform/agent-protocol/detail-query.ts";
import { toNumber } from "../../platform/agent-protocol/numbers.ts";
import { type AgentRow, text } from "../../platform/agent-protocol/rows.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { oneOf } from "../../platform/store/query.ts";
import { type InventorySource, NOTHING_TO_WRITE, type SourceWriter } from "../hosts/inventory/source.ts";
import { isDriveC } from "./inventory.ts";

/** Win32_EncryptableVolume.GetKeyProtectorType: the TPM together with a PIN. */
const TPM_AND_PIN = 4;

const isPin = (row: AgentRow): boolean =>
  toNumber(row.key_protector_type) === TPM_AND_PIN && isDriveC(text(row, "drive_letter"));

function startWriter({ store }: Services): SourceWriter<boolean> {
  return {
    async plan(reported) {
      const ids = reported.map(({ hostId }) => hostId);
      const rows = await store.hostDiskEncryption.pick(["id", "has_pin"], { where: oneOf("id", ids) });
      const stored = new Map(rows.map(({ id, has_pin }) => [id, has_pin]));
      const changed = reported.filter(({ hostId, value }) => stored.get(hostId) !== value);
      if (changed.length === 0) return NOTHING_TO_WRITE;
      return {
        async write(tx) {
          await tx.hostDiskEncryption.upsert(
            changed.map(({ hostId, value }) => ({ id: hostId, has_pin: value })),
            { on: ["id"], set: ["has_pin"], returning: [] },
          );
          await tx.notify(channels.diskKeys, "");
        },
      };
    },
  };
}

export const bitlockerPinInventory: InventorySource<boolean> = {
  queries: [
    {
      name: "bitlocker_pin",
      platforms: ["windows"],
      discovery: tableExists("bitlocker_key_protectors"),
      sql: "SELECT drive_letter, key_protector_type FROM bitlocker_key_protectors;",
    },
  ],
  read({ rows }) {
    return rows("bitlocker_pin")?.some(isPin) ?? null;
  },
  start: startWriter,
};
