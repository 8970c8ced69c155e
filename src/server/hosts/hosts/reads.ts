// What other features read of hosts.
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";

/** The teams of the hosts that exist, by the ids of the hosts. Null: no team. */
export async function teamsOfHosts(
  { hosts }: Pick<ServerTx, "hosts">,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number | null>> {
  if (ids.length === 0) return new Map();
  const rows = await hosts.pick(["id", "team_id"], { where: oneOf("id", ids) });
  return new Map(rows.map(({ id, team_id }) => [id, team_id]));
}
