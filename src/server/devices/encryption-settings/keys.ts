// Users read the disk encryption keys of hosts. Each reading is an activity. Keys of Macs come enveloped to the certificate of
// the device CA, and are opened here.

import type { EscrowedKey } from "../../../api/inventory/host-details.ts";
import { BadCms } from "../../../pki/cms.ts";
import { BadDer } from "../../../pki/der.ts";
import { openEnvelope } from "../../../pki/enveloped-data.ts";
import { deviceCa } from "../../certificates/device-ca/ca.ts";
import { keysOfHost } from "../../hosts/disk-encryption/history.ts";
import { isKeyReadable } from "../../hosts/disk-encryption/tables.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound, notThere } from "../../platform/core/errors.ts";

const KEY = /^[\x21-\x7e]{1,256}$/;

/** The recovery key in a Mac's envelope (base64); null if it cannot be opened. */
export async function openDiskKey(ctx: Pick<Context, "running">, sealed: string): Promise<string | null> {
  const { certificate, key } = await deviceCa(ctx);
  try {
    const { content } = openEnvelope(Buffer.from(sealed, "base64"), certificate, key);
    const text = content.toString("latin1").trim();
    return KEY.test(text) ? text : null;
  } catch (error) {
    if (error instanceof BadCms || error instanceof BadDer) return null;
    throw error;
  }
}

/** Returns a key that was verified, or that hosts keep while nothing is demanded of them. Records who requested it. */
export async function encryptionKeyOf(ctx: Context, id: number) {
  const host = await hostFor(ctx, "hosts:read_disk_key", id);
  return ctx.store.tx(async (store) => {
    const row = await store.hostDiskEncryption.get(host.id);
    const key = row?.key ?? (row?.sealed_key ? await openDiskKey(ctx, row.sealed_key) : null);
    if (row === null || key === null || row.key_updated_at === null) throw notFound("disk encryption key of host", id);
    if (!isKeyReadable(row))
      throw notThere(
        `the disk encryption key of host ${id} can be read once its disk encryption is verified; it is ${row.status} now`,
      );
    await recordActivity(
      within(ctx, store),
      "read_host_disk_encryption_key",
      { host_id: host.id, host_display_name: host.display_name },
      { hostId: host.id },
    );
    return { host_id: host.id, encryption_key: { key, updated_at: row.key_updated_at } };
  });
}

/** The current key and earlier ones. A key that cannot be opened is not among them. */
export async function escrowedKeysOf(
  ctx: Context,
  id: number,
): Promise<{ host_id: number; encryption_keys: EscrowedKey[] }> {
  const host = await hostFor(ctx, "hosts:read_passwords", id);
  return ctx.store.tx(async (store) => {
    const encryption_keys: EscrowedKey[] = [];
    for (const row of await keysOfHost(store, host.id)) {
      const key = row.key ?? (row.sealed_key === null ? null : await openDiskKey(ctx, row.sealed_key));
      if (key !== null) encryption_keys.push({ key, escrowed_at: row.escrowed_at, source: row.source });
    }
    if (encryption_keys.length > 0)
      await recordActivity(
        within(ctx, store),
        "read_host_disk_encryption_key",
        { host_id: host.id, host_display_name: host.display_name },
        { hostId: host.id },
      );
    return { host_id: host.id, encryption_keys };
  });
}
