import type { ServerTx } from "../../core/tables.ts";

/** The files by the profiles' ids. */
export async function contentsOf(
  store: Pick<ServerTx, "profileContents">,
  profileIds: readonly number[],
): Promise<ReadonlyMap<number, Buffer>> {
  const rows = await store.profileContents.getMany(profileIds);
  return new Map(rows.map(({ id, content }) => [id, Buffer.from(content, "base64")]));
}
