// Notifies devices that their declarations have changed.

import { openOperations } from "../../../hosts/operations/queue.ts";
import type { Context } from "../../../platform/core/context.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { appleCommandKind } from "../commands/kind.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { APPLE_LANE } from "../lane.ts";

export const appleDeclarationCommand = appleCommandKind({
  name: "apple_declarations",
  title: "declarations",
  // The device shows with its next requests that it has understood.
  async ended() {},
});

const command = { RequestType: "DeclarativeManagement" };

/**
 * In the transaction of the change, under the locks of the hosts' operations: a command that a device has not got yet
 * serves for this change, too.
 */
export async function notifyDevices(inside: Context, hostIds: readonly number[]): Promise<void> {
  if (hostIds.length === 0) return;
  const open = await openOperations(inside.store, hostIds, APPLE_LANE);
  const queued = open.flatMap(({ id, state }) => (state === "queued" ? [id] : []));
  const where = and(oneOf("id", queued), eq("request_type", command.RequestType));
  const existing = new Set((await inside.store.mdmCommands.pick(["host_id"], { where })).map(({ host_id }) => host_id));
  const others = hostIds.filter((hostId) => !existing.has(hostId));
  if (others.length === 0) return;
  await sendAppleCommands(
    inside,
    appleDeclarationCommand,
    others.map((hostId) => ({ hostId, command })),
  );
}
