// The keys that a host has escrowed, the current one included. A key that replaces another may be wrong, or from a copy of the
// host: the former one still opens the disk then.

import type { Context } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { diskKeyHistory, hostDiskEncryption } from "./tables.ts";

/** Keys of one host. Older ones are deleted. */
export const earlierKeys = limit({
  what: "disk encryption keys of a host, with earlier ones",
  max: 10,
  unit: "entries",
  per: "host",
  beyond: "The oldest are deleted.",
});

type StoredKey = Pick<RowOf<typeof diskKeyHistory>, "key" | "sealed_key" | "key_salt" | "key_slot">;
type Source = RowOf<typeof diskKeyHistory>["source"];

interface Escrow {
  readonly before: RowOf<typeof hostDiskEncryption> | null;
  readonly key: StoredKey;
  readonly source: Source;
}

const isSame = (a: StoredKey, b: StoredKey): boolean =>
  a.key === b.key && a.sealed_key === b.sealed_key && a.key_slot === b.key_slot;

/** Call this in the transaction that stores the key, with the row from before. */
export async function recordEscrow(
  { store, clock }: Pick<Context, "store" | "clock">,
  hostId: number,
  { before, key, source }: Escrow,
): Promise<void> {
  const rows = await keysOfHost(store, hostId);
  const fresh: Omit<RowOf<typeof diskKeyHistory>, "id" | "revision">[] = [];
  // Nobody knows who has sent keys from before there was a history.
  if (before && (before.key ?? before.sealed_key) !== null && !rows.some((row) => isSame(row, before))) {
    const { key: former, sealed_key, key_salt, key_slot, key_updated_at } = before;
    const escrowed_at = key_updated_at ?? clock.iso();
    fresh.push({ host_id: hostId, key: former, sealed_key, key_salt, key_slot, source: "unknown", escrowed_at });
  }
  const [newest] = rows;
  if (!newest || fresh.length > 0 || !isSame(newest, key))
    fresh.push({ host_id: hostId, ...key, source, escrowed_at: clock.iso() });
  if (fresh.length === 0) return;
  await store.diskKeyHistory.insertMany(fresh);
  const gone = rows.slice(Math.max(0, earlierKeys.max - fresh.length)).map(({ id }) => id);
  if (gone.length > 0) await store.diskKeyHistory.delete(oneOf("id", gone));
}

/** The keys of a host, the newest first. */
export const keysOfHost = (store: Pick<ServerTx, "diskKeyHistory">, hostId: number) =>
  store.diskKeyHistory.list({ where: eq("host_id", hostId), order: [{ column: "id", direction: "desc" }] });
