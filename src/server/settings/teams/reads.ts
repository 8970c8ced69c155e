// What other features read of teams.
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";

type Store = Pick<ServerTx, "teams">;

/** Null for null, which stands for no team, and for a team that does not exist. */
export const teamName = async ({ teams }: Store, id: number | null): Promise<string | null> =>
  id === null ? null : ((await teams.get(id))?.name ?? null);

/** The names of the teams that exist, by their ids. */
export async function teamNames({ teams }: Store, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map();
  const rows = await teams.pick(["id", "name"], { where: oneOf("id", [...new Set(ids)]) });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
