// Pending scripts of hosts, shown as upcoming activities, and their cancellation.
import { recordActivity } from "../activities/record.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { type Context, within } from "../core/context.ts";
import { badRequest, notFound } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import type { HostRow } from "../hosts/access.ts";
import { and, eq, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { scriptRuns } from "./tables.ts";

export type ScriptRun = RowOf<typeof scriptRuns>;

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

/** Lock that serializes changes of one host's actions and scripts. */
export const actionLock = (hostId: number) => ({ lock: `host-actions-${hostId}` });

const shown = ["id", "created_at", "execution_id", "host_id", "kind", "user_id", "started_at"] as const;
/** Without the script's text, which may be long. */
export type PendingRun = Pick<ScriptRun, (typeof shown)[number]>;

/** Lock, unlock and wipe first, then scripts in the order of their requests. */
export async function pendingRuns(store: ServerTx, hostIds: readonly number[]): Promise<PendingRun[]> {
  const runs = await store.scriptRuns.pick(shown, { where: and(oneOf("host_id", hostIds), eq("state", "pending")) });
  return runs.sort((a, b) => Number(a.kind === "script") - Number(b.kind === "script") || a.id - b.id);
}

/** In order of execution. */
export async function upcomingOf(store: ServerTx, hostId: number): Promise<UpcomingActivity[]> {
  const [host, runs] = await Promise.all([store.hosts.get(hostId), pendingRuns(store, [hostId])]);
  const userIds = [...new Set(runs.map(({ user_id }) => user_id).filter((id) => id !== null))];
  const users = new Map((await store.users.getMany(userIds)).map((user) => [user.id, user]));
  return runs.map((run) => {
    const user = run.user_id === null ? undefined : users.get(run.user_id);
    return {
      uuid: run.execution_id,
      created_at: run.created_at,
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
        host_id: hostId,
        host_display_name: host?.display_name ?? "",
        script_execution_id: run.execution_id,
        script_name: run.kind === "script" ? "" : run.kind,
        async: true,
        policy_id: null,
        policy_name: null,
      },
    };
  });
}

/**
 * Cancels a pending script: 404 if the host has no pending script with this id. 400 for a lock, unlock or wipe that the
 * agent has already fetched, since it may be running.
 */
export async function cancelScriptRun(
  ctx: Context,
  host: Pick<HostRow, "id" | "display_name">,
  executionId: string,
): Promise<void> {
  await ctx.store.tx(async (store) => {
    const run = await store.scriptRuns.first({
      where: and(eq("execution_id", executionId), eq("host_id", host.id), eq("state", "pending")),
    });
    if (!run) throw notFound("upcoming activity", executionId);
    if (run.kind !== "script" && run.started_at !== null)
      throw badRequest(`the ${run.kind} has started on the host and cannot be cancelled`);
    await store.scriptRuns.update({
      where: eq("id", run.id),
      set: { state: "cancelled", ended_at: ctx.clock.iso() },
    });
    await store.hostActions.update({
      where: and(eq("id", host.id), eq("reference", executionId)),
      set: { pending: "", reference: "" },
    });
    await recordActivity(
      within(ctx, store),
      "canceled_run_script",
      { host_id: host.id, host_display_name: host.display_name, script_name: run.kind === "script" ? "" : run.kind },
      { hostId: host.id },
    );
    await store.notify(channels.hosts, hostsPayload([host.id]));
  }, actionLock(host.id));
}
