// What is upcoming on a host, as users see it, and its cancellation.
import { recordActivity } from "../activities/record.ts";
import { type Context, within } from "../core/context.ts";
import { badRequest, notFound } from "../core/errors.ts";
import type { HostRow } from "../hosts/access.ts";
import { and, eq } from "../store/query.ts";
import { kindOf } from "./kind.ts";
import { endOperation, isOpen, openOperations, operationLock } from "./queue.ts";

/** An upcoming activity: like an entry of the feed, but with `uuid` instead of `id`. */
export interface UpcomingActivity {
  readonly uuid: string;
  readonly created_at: string;
  readonly type: "ran_script";
  readonly svc_initiated: boolean;
  readonly actor_id?: number;
  readonly actor_full_name?: string;
  readonly actor_email?: string;
  readonly actor_gravatar?: string;
  readonly actor_api_only?: boolean;
  readonly details: {
    readonly host_id: number;
    readonly host_display_name: string;
    readonly script_execution_id: string;
    readonly script_name: string;
    readonly async: boolean;
    readonly policy_id: number | null;
    readonly policy_name: string | null;
  };
}

/** In order of execution. */
export async function upcomingOf(
  ctx: Pick<Context, "store" | "extensions">,
  { id, display_name }: Pick<HostRow, "id" | "display_name">,
): Promise<UpcomingActivity[]> {
  const all = await openOperations(ctx.store, [id], null);
  const open = all.filter(({ kind }) => !kindOf(ctx, kind).isHidden);
  const userIds = [...new Set(open.map(({ user_id }) => user_id).filter((userId) => userId !== null))];
  const users = new Map((await ctx.store.users.getMany(userIds)).map((user) => [user.id, user]));
  return open.map((operation) => {
    const user = operation.user_id === null ? undefined : users.get(operation.user_id);
    return {
      uuid: operation.uuid,
      created_at: operation.created_at,
      type: "ran_script",
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
      details: {
        host_id: id,
        host_display_name: display_name,
        script_execution_id: operation.uuid,
        script_name: kindOf(ctx, operation.kind).title,
        async: true,
        policy_id: null,
        policy_name: null,
      },
    };
  });
}

/**
 * Cancels an operation of the host. 404 if the host has no upcoming one with this id. 400 for one that was sent and may
 * be running, if its kind does not allow that.
 */
export async function cancelOperation(
  ctx: Context,
  host: Pick<HostRow, "id" | "display_name">,
  uuid: string,
): Promise<void> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const operation = await store.operations.first({
      where: and(eq("uuid", uuid), eq("host_id", host.id), isOpen),
    });
    const kind = operation && kindOf(ctx, operation.kind);
    if (!operation || !kind || kind.isHidden) throw notFound("upcoming activity", uuid);
    if (operation.attempts > 0 && !kind.isCancellableOnceSent)
      throw badRequest(`the ${kind.title} has started on the host and cannot be cancelled`);
    await endOperation(inside, operation, { state: "cancelled", result: null });
    await recordActivity(
      inside,
      "canceled_run_script",
      { host_id: host.id, host_display_name: host.display_name, script_name: kind.title },
      { hostId: host.id },
    );
  }, operationLock(host.id));
}
