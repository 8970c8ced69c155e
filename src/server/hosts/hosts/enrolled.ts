// Writes the rows of hosts that enroll.

import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { HostRow } from "./access.ts";
import { notifyHostsMoved } from "./changes.ts";
import { teamsOfHosts } from "./reads.ts";

/** A host was deleted or changed team after its row was read. */
export class HostChanged extends Error {}

interface HostUpdate {
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
}

export const insertHosts = (tx: ServerTx, rows: readonly InsertOf<Tables["hosts"]>[]): Promise<HostRow[]> =>
  rows.length === 0 ? Promise.resolve([]) : tx.hosts.insertMany(rows);

/** Undefined columns keep their values. Throws `HostChanged` if a host is no longer in the team of its row. */
export async function updateKnownHosts(tx: ServerTx, updates: readonly HostUpdate[]): Promise<void> {
  if (updates.length === 0) return;
  const columns = [...new Set(updates.flatMap(({ set }) => Object.keys(set)))] as (keyof HostRow)[];
  await tx.hosts.updateEach(
    updates.map(({ row, set }) => ({
      ...Object.fromEntries(columns.map((column) => [column, set[column] === undefined ? row[column] : set[column]])),
      id: row.id,
    })),
  );
  // Read after the write, whose row locks keep the teams unchanged until the commit.
  const ids = updates.map(({ row }) => row.id);
  const teams = await teamsOfHosts(tx, ids);
  if (updates.some(({ row }) => teams.get(row.id) !== row.team_id)) throw new HostChanged();
}

interface Takeover {
  readonly teamId: number | null;
  /** False: another agent enrolls, so the key of the query engine is deleted. */
  readonly keepsNodeKey: boolean;
}

/** Moves hosts that enroll to another team, whose policies have never run on them. */
export async function moveEnrolling(
  tx: ServerTx,
  ids: readonly number[],
  { teamId, keepsNodeKey }: Takeover,
): Promise<void> {
  await tx.hosts.update({
    where: oneOf("id", ids),
    set: { team_id: teamId, policy_updated_at: null, ...(keepsNodeKey ? {} : { node_key_hash: null }) },
  });
  await tx.notify(channels.hosts, hostsPayload(ids));
  await notifyHostsMoved(tx);
}
