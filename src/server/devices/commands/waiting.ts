// Commands that wait: how users see them among what is upcoming on a host, and how they cancel them.

import { hostFor } from "../../hosts/hosts/access.ts";
import type { CancelCandidate, Operation, OperationHost, OperationView } from "../../hosts/operations/kind.ts";
import { endOperation, operationLock } from "../../hosts/operations/queue.ts";
import type { Entry } from "../../platform/activities/record.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import { requireAnyMdm } from "../gate.ts";
import { platformOfLane } from "./platform.ts";
import { commandOf } from "./rows.ts";

/** View of the kinds of commands that users send themselves. */
export const commandView: OperationView = {
  async upcoming(store, host, operations) {
    const ids = operations.map(({ id }) => id);
    const commands = byId(
      await store.mdmCommands.pick(["id", "command_uuid", "request_type"], { where: oneOf("id", ids) }),
    );
    return operations.map(({ id, uuid }) => ({
      type: "ran_custom_mdm_command",
      details: {
        host_id: host.id,
        host_display_name: host.display_name,
        host_uuid: host.uuid,
        command_uuid: commands.get(id)?.command_uuid ?? uuid,
        request_type: commands.get(id)?.request_type ?? "",
        platform: host.platform,
      },
    }));
  },
  refusals: async (inside, operations) => {
    const ids = operations.map(({ id }) => id);
    const commands = byId(await inside.store.mdmCommands.pick(["id", "request_type"], { where: oneOf("id", ids) }));
    return operations.map((operation) => refusalOf(inside, operation, commands.get(operation.id)?.request_type ?? ""));
  },
  cancel: cancelWaiting,
};

function refusalOf(ctx: Pick<Context, "extensions">, operation: CancelCandidate, type: string): string | null {
  const { cancellable } = platformOfLane(ctx, operation.lane);
  if (!cancellable.includes(type))
    return `commands of the type ${type} cannot be cancelled, only ${cancellable.join(", ")}`;
  return operation.state !== "queued" || operation.attempts > 0
    ? `the device has received the ${type} already: it cannot be cancelled any more`
    : null;
}

async function cancelWaiting(inside: Context, host: OperationHost, operation: Operation): Promise<Entry> {
  const type = (await inside.store.mdmCommands.get(operation.id))?.request_type ?? "";
  await endOperation(inside, operation, { state: "cancelled", result: null });
  return {
    type: "canceled_mdm_command",
    details: { host_id: host.id, host_display_name: host.display_name, command_type: type },
  };
}

export async function cancelCommand(ctx: Context, hostId: number, uuid: string): Promise<void> {
  const host = await hostFor(ctx, "hosts:cancel_activity", hostId);
  await requireAnyMdm(ctx);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const command = await commandOf(store, host.id, uuid);
    const operation = command && (await store.operations.get(command.id));
    if (!operation) throw notFound("command", uuid);
    const refusal = refusalOf(inside, operation, command.request_type);
    if (refusal !== null) throw badRequest(refusal);
    await recordEntries(inside, [await cancelWaiting(inside, host, operation)], { hostId: host.id });
  }, operationLock(host.id));
}
