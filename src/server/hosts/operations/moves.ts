// Hosts that move to another team: what they have not begun of what their team has asked for with its own things.
import { recordEntries } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { operationKind } from "./kind.ts";
import { lockOperations } from "./queue.ts";

const isWaiting = and(eq("state", "queued"), eq("attempts", 0));

/**
 * The hosts for which something waits. Their operations are locked until the commit: call it before other writes to
 * hosts.
 */
export async function lockWaiting(store: ServerTx, hostIds: readonly number[]): Promise<readonly number[]> {
  const waiting = await store.operations.pick(["host_id"], { where: and(oneOf("host_id", hostIds), isWaiting) });
  const ids = [...new Set(waiting.map(({ host_id }) => host_id))];
  await lockOperations(store, ids);
  return ids;
}

/** In the transaction that moves the hosts, whose operations are locked. Null: to no team. */
export async function cancelOfOtherTeams(
  inside: Context,
  hostIds: readonly number[],
  teamId: number | null,
): Promise<void> {
  if (hostIds.length === 0) return;
  const { store } = inside;
  const where = and(oneOf("host_id", hostIds), isWaiting);
  const waiting = await store.operations.list({ where, order: [{ column: "id", direction: "asc" }] });
  const hosts = byId(await store.hosts.getMany([...new Set(waiting.map(({ host_id }) => host_id))]));
  for (const operation of waiting) {
    const host = hosts.get(operation.host_id);
    const entry = host && (await operationKind(inside, operation.kind).leftTeam?.(inside, host, operation, teamId));
    if (entry) await recordEntries(inside, [entry], { hostId: operation.host_id });
  }
}
