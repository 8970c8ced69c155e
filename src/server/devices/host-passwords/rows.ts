// Changes of what is known of passwords, in the caller's transaction.

import { recordSettings } from "../../hosts/os-settings/statuses.ts";
import type { SettingStatus } from "../../hosts/os-settings/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { InsertOf, RowOf } from "../../platform/store/table.ts";
import type { managedAccounts, recoveryLocks } from "./tables.ts";

export type LockRow = RowOf<typeof recoveryLocks>;
export type AccountRow = RowOf<typeof managedAccounts>;
type Store = Pick<ServerTx, "recoveryLocks" | "managedAccounts" | "hostSettings" | "hosts">;

/** A lock whose password is to be set, whatever was asked before. */
export const toSet = { status: "pending", detail: "", next: null, step: "set", command_uuid: null } as const;

/** The status of a lock is one of the host's settings. */
const recordLocks = (store: Store, ids: readonly number[], status: SettingStatus | null) =>
  recordSettings(
    store,
    "recovery_lock",
    ids.map((id) => ({ id, status })),
  );

export async function addLocks(store: Store, ids: readonly number[]): Promise<void> {
  await store.recoveryLocks.insertMany(ids.map((id) => ({ id, ...toSet, password: null, updated_at: null })));
  await recordLocks(store, ids, toSet.status);
}

/** Returns how many rows have changed: none if the host has no lock. */
export async function changeLock(store: Store, id: number, set: Partial<Omit<LockRow, "id">>): Promise<number> {
  const changed = await store.recoveryLocks.update({ where: eq("id", id), set });
  if (changed > 0 && set.status !== undefined) await recordLocks(store, [id], set.status);
  return changed;
}

/** The commands that these hosts are to get next were queued. */
export const lockCommandsQueued = (
  store: Store,
  queued: readonly (Pick<LockRow, "id" | "command_uuid"> & { readonly next?: string })[],
) => store.recoveryLocks.updateEach(queued);

export async function dropLock(store: Store, id: number): Promise<void> {
  if ((await store.recoveryLocks.delete(eq("id", id))) > 0) await recordLocks(store, [id], null);
}

export const putAccount = (store: Store, row: InsertOf<typeof managedAccounts>) =>
  store.managedAccounts.upsert([row], { on: ["id"] });

export const changeAccount = (store: Store, id: number, set: Partial<Omit<AccountRow, "id">>) =>
  store.managedAccounts.update({ where: eq("id", id), set });

export const dropAccount = (store: Store, id: number) => store.managedAccounts.delete(eq("id", id));

/** For hosts that an agent moves to another team, which gets no password of the previous one. */
export async function forgetPasswords({ store }: Pick<Context, "store">, hostIds: readonly number[]): Promise<void> {
  await store.managedAccounts.delete(oneOf("id", hostIds));
  // Without its password the lock could not be changed any more: it is kept for that, and nobody can read it.
  const locks = await store.recoveryLocks.pick(["id"], { where: oneOf("id", hostIds) });
  const ids = locks.map(({ id }) => id);
  await store.recoveryLocks.update({ where: oneOf("id", ids), set: { ...toSet, updated_at: null } });
  await recordLocks(store, ids, toSet.status);
}
