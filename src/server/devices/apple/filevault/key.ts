// Recovery keys of Macs: they come enveloped to the certificate of the device CA, from the device itself or its agent.

import type { DiskKeySource } from "../../../../api/inventory/host-details.ts";
import { recordEscrow } from "../../../hosts/disk-encryption/history.ts";
import { keepEnvelope } from "../../../hosts/disk-encryption/macs.ts";
import type { InventorySource, SourceWriter } from "../../../hosts/hosts/inventory/source.ts";
import { NOTHING_TO_WRITE } from "../../../hosts/hosts/inventory/source.ts";
import { recordHostActivity } from "../../../platform/activities/by-host.ts";
import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { text } from "../../../platform/agent-protocol/rows.ts";
import { days } from "../../../platform/core/clock.ts";
import { type Context, type Services, service, serviceContext, within } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { openDiskKey } from "../../encryption-settings/keys.ts";
import type { AppleDeviceListener, AppleReader } from "../channel/listeners.ts";
import { appleCommandKind } from "../commands/kind.ts";

/** An envelope has about 500 bytes. */
export const sealedKey = limit({
  what: "sealed FileVault key of a Mac",
  max: 16_384,
  unit: "characters",
  beyond: "The key is not stored.",
});

/** The Mac is asked for its key. */
export const securityInfo = appleCommandKind({
  name: "apple_security_info",
  // Sent after what users have asked for.
  priority: 20,
  keptFor: days(1),
  // `readSecurityInfo` reads the answers.
  ended: async () => {},
});

const readSecurityInfo: AppleReader = async (ctx, { hostId, isDone, message }) => {
  const info = isDone ? message.SecurityInfo : undefined;
  if (typeof info !== "object" || info === null || !("FDE_PersonalRecoveryKeyCMS" in info)) return;
  const cms = info.FDE_PersonalRecoveryKeyCMS;
  if (Buffer.isBuffer(cms) && cms.length > 0)
    await keepSealedKey(ctx, hostId, cms.toString("base64"), "device_management");
};

export const filevaultListener: AppleDeviceListener = { readers: { [securityInfo.name]: readSecurityInfo } };

/** Keeps a key that differs from the stored one. One that cannot be opened is kept too: it shows what is wrong. */
async function keepSealedKey(ctx: Context, hostId: number, sealed: string, source: DiskKeySource): Promise<void> {
  if (sealed.length > sealedKey.max) return;
  const isReadable = (await openDiskKey(ctx, sealed)) !== null;
  await ctx.store.tx(
    async (store) => {
      const host = await store.hosts.get(hostId);
      const before = await store.hostDiskEncryption.get(hostId);
      if (!host || before?.sealed_key === sealed) return;
      // What cannot be read does not replace what can.
      if (!isReadable && before?.sealed_key != null && before.key_updated_at !== null) return;
      const key = { key: null, sealed_key: sealed, key_salt: null, key_slot: null };
      if (isReadable) await recordEscrow(within(ctx, store), hostId, { before, key, source });
      await keepEnvelope(store, hostId, { sealed, readAt: isReadable ? ctx.clock.iso() : null });
      if (!isReadable) return;
      const isNew = before?.sealed_key == null || before.key_updated_at === null;
      await recordHostActivity(
        { ...within(ctx, store), user: service },
        hostId,
        isNew ? "escrowed_disk_encryption_key" : "rotated_disk_encryption_key",
        { host_id: hostId, host_display_name: host.display_name },
        { isListed: false },
      );
    },
    { lock: `disk-key ${hostId}` },
  );
}

function startWriter(services: Services): SourceWriter<string> {
  const ctx = serviceContext(services, "disk encryption");
  return {
    async plan(reported) {
      const rows = await services.store.hostDiskEncryption.pick(["id", "sealed_key"], {
        where: oneOf(
          "id",
          reported.map(({ hostId }) => hostId),
        ),
      });
      const sealedKeys = new Map(rows.map(({ id, sealed_key }) => [id, sealed_key]));
      // A transaction of its own for each: a Mac has a new key once in years.
      for (const { hostId, value } of reported)
        if (sealedKeys.get(hostId) !== value) await keepSealedKey(ctx, hostId, value, "agent");
      return NOTHING_TO_WRITE;
    },
  };
}

/** The agent reads the envelope from a file that macOS writes. */
export const filevaultInventory: InventorySource<string> = {
  queries: [
    {
      name: "filevault_key",
      platforms: ["darwin"],
      discovery: tableExists("filevault_prk"),
      sql: "SELECT base64_encrypted FROM filevault_prk;",
    },
  ],
  read({ single }) {
    const row = single("filevault_key");
    const sealed = row === null ? "" : text(row, "base64_encrypted", sealedKey.max).replace(/\s+/g, "");
    return sealed === "" ? null : sealed;
  },
  start: startWriter,
};
