// Changes of what is known of names, in the caller's transaction.
import type { ServerTx } from "../core/tables.ts";
import { eq, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { hostNames } from "./tables.ts";

export type NameRow = Omit<RowOf<typeof hostNames>, "revision">;
type Store = Pick<ServerTx, "hostNames">;

export const putNames = (store: Store, rows: readonly NameRow[]) =>
  store.hostNames.upsert(rows, { on: ["id"], returning: [] });

export const changeName = (store: Store, id: number, set: Partial<Omit<NameRow, "id">>) =>
  store.hostNames.update({ where: eq("id", id), set });

export const nameCommandsQueued = (store: Store, queued: readonly Pick<NameRow, "id" | "command_uuid">[]) =>
  store.hostNames.updateEach(queued);

export const dropNames = (store: Store, ids: readonly number[]) => store.hostNames.delete(oneOf("id", ids));
