import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { ProfileRow } from "./platform.ts";

/** The files by the profiles' ids. */
export async function contentsOf(
  store: Pick<ServerTx, "profileContents">,
  profileIds: readonly number[],
): Promise<ReadonlyMap<number, Buffer>> {
  const rows = await store.profileContents.getMany(profileIds);
  return new Map(rows.map(({ id, content }) => [id, Buffer.from(content, "base64")]));
}

/** The activations, in base64, of those that have one of their own. */
export async function activationsOf(
  store: Pick<ServerTx, "profileContents">,
  profiles: readonly Pick<ProfileRow, "id" | "activation_identifier">[],
): Promise<ReadonlyMap<number, string>> {
  const ids = profiles.flatMap(({ id, activation_identifier }) => (activation_identifier === null ? [] : [id]));
  if (ids.length === 0) return new Map();
  const rows = await store.profileContents.pick(["id", "activation"], { where: oneOf("id", ids) });
  return new Map(rows.flatMap(({ id, activation }) => (activation === null ? [] : [[id, activation]])));
}
