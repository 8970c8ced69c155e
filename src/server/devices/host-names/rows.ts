// Changes of what is known of names, in the caller's transaction. Their status is one of the host's settings.

import { recordSettings } from "../../hosts/os-settings/statuses.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { hostNames } from "./tables.ts";

export type NameRow = Omit<RowOf<typeof hostNames>, "revision">;
type Store = Pick<ServerTx, "hostNames" | "hostSettings" | "hosts">;

export async function putNames(store: Store, rows: readonly NameRow[]): Promise<void> {
  await store.hostNames.upsert(rows, { on: ["id"], returning: [] });
  await recordSettings(store, "host_name", rows);
}

/** Returns how many rows have changed: none if the host has no name to get. */
export async function changeName(store: Store, id: number, set: Partial<Omit<NameRow, "id">>): Promise<number> {
  const changed = await store.hostNames.update({ where: eq("id", id), set });
  if (changed > 0 && set.status !== undefined) await recordSettings(store, "host_name", [{ id, status: set.status }]);
  return changed;
}

export const nameCommandsQueued = (store: Store, queued: readonly Pick<NameRow, "id" | "command_uuid">[]) =>
  store.hostNames.updateEach(queued);

export async function dropNames(store: Store, ids: readonly number[]): Promise<void> {
  const dropped = await store.hostNames.pick(["id"], { where: oneOf("id", ids) });
  await store.hostNames.delete(oneOf("id", ids));
  await recordSettings(
    store,
    "host_name",
    dropped.map(({ id }) => ({ id, status: null })),
  );
}
