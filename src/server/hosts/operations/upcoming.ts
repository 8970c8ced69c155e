// What is upcoming on a host, as users see it, and its cancellation.
import type { UpcomingActivity } from "../../../api/hosts/host-activities.ts";
import { type Entry, recordEntries } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { and, eq } from "../../platform/store/query.ts";
import {
  type OpenOperation,
  type Operation,
  type OperationActivity,
  type OperationHost,
  type OperationView,
  operationKind,
} from "./kind.ts";
import { endOperation, isOpen, openOperations, operationLock } from "./queue.ts";
import { refusalsOf } from "./refusals.ts";

/** In order of execution. Each way to reach the host has an order of its own. */
export async function upcomingOf(
  ctx: Pick<Context, "store" | "extensions">,
  host: OperationHost,
): Promise<UpcomingActivity[]> {
  const all = await openOperations(ctx.store, [host.id], null);
  const open = all.filter(({ kind }) => !operationKind(ctx, kind).isHidden);
  const userIds = [...new Set(open.map(({ user_id }) => user_id).filter((userId) => userId !== null))];
  const users = new Map((await ctx.store.users.getMany(userIds)).map((user) => [user.id, user]));
  const activities = await asSeen(ctx, host, open);
  return open.map((operation) => {
    const user = operation.user_id === null ? undefined : users.get(operation.user_id);
    return {
      uuid: operation.uuid,
      created_at: operation.created_at,
      svc_initiated: user === undefined,
      ...(user === undefined
        ? {}
        : {
            actor_id: user.id,
            actor_full_name: user.name,
            actor_email: user.email,
            actor_gravatar: user.gravatar_url,
            actor_api_only: user.api_only,
          }),
      ...activities.get(operation.id)!,
    };
  });
}

export async function asSeen(
  ctx: Pick<Context, "store" | "extensions">,
  host: OperationHost,
  open: readonly OpenOperation[],
): Promise<ReadonlyMap<number, OperationActivity>> {
  const activities = new Map<number, OperationActivity>();
  const viewOf = ({ kind }: OpenOperation): OperationView | undefined => operationKind(ctx, kind).view;
  for (const [view, operations] of groupBy(open, viewOf)) {
    const each = view
      ? await view.upcoming(ctx.store, host, operations)
      : operations.map((operation) => scriptOf(ctx, host, operation));
    operations.forEach(({ id }, i) => void activities.set(id, each[i]!));
  }
  return activities;
}

const scriptOf = (
  ctx: Pick<Context, "extensions">,
  { id, display_name }: OperationHost,
  operation: OpenOperation,
): OperationActivity => ({
  type: "ran_script",
  details: {
    host_id: id,
    host_display_name: display_name,
    script_execution_id: operation.uuid,
    script_name: operationKind(ctx, operation.kind).title,
    async: true,
    policy_id: null,
    policy_name: null,
  },
});

/**
 * Cancels an operation of the host. 404 if the host has no upcoming one with this id. 400 for one that was sent and may
 * be running, if its kind does not allow that.
 */
export async function cancelOperation(ctx: Context, host: OperationHost, uuid: string): Promise<void> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const operation = await store.operations.first({
      where: and(eq("uuid", uuid), eq("host_id", host.id), isOpen),
    });
    const kind = operation && operationKind(ctx, operation.kind);
    if (!operation || !kind || kind.isHidden) throw notFound("upcoming activity", uuid);
    const refusal = (await refusalsOf(inside, [operation])).get(operation.id);
    if (typeof refusal === "string") throw badRequest(refusal);
    await cancelAllowed(inside, host, operation);
  }, operationLock(host.id));
}

/** Cancels an operation that can be cancelled, in the caller's transaction, under the lock of its host. */
export async function cancelAllowed(inside: Context, host: OperationHost, operation: Operation): Promise<void> {
  const cancel = operationKind(inside, operation.kind).view?.cancel ?? cancelScript;
  await recordEntries(inside, [await cancel(inside, host, operation)], { hostId: host.id });
}

/** Cancels an operation that has not begun, and records it under the title of its kind. */
export async function cancelScript(inside: Context, host: OperationHost, operation: Operation): Promise<Entry> {
  const kind = operationKind(inside, operation.kind);
  await endOperation(inside, operation, { state: "cancelled", result: null });
  return {
    type: "canceled_run_script",
    details: { host_id: host.id, host_display_name: host.display_name, script_name: kind.title },
  };
}
