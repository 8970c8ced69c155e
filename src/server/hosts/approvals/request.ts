// Requests the approval of another user instead of performing the action.
import { setImmediate } from "node:timers/promises";
import type { Approval } from "../../../api/hosts/approvals.ts";
import { selectionOf } from "../../../api/hosts/selection-digest.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict } from "../../platform/core/errors.ts";
import { and, eq, gt, oneOf } from "../../platform/store/query.ts";
import type { ApprovalAction, ApprovalSelection } from "./tables.ts";
import { type ApprovalRow, viewOf } from "./view.ts";

/** How long a request can be approved. */
const OPEN_FOR = hours(24);
const SHOWN_HOSTS = 10;
const MAX_PENDING = 100;
const BATCH_SIZE = 1000;

/** Whether the server's settings require another user's approval. */
export function needsApproval(
  { settings, user }: Pick<Context, "settings" | "user">,
  action: ApprovalAction,
  hosts: number,
): boolean {
  if (!settings.require_approval || user.kind !== "user") return false;
  return action !== "delete_hosts" || hosts > settings.approval_delete_threshold;
}

/**
 * Creates a request. Returns the pending one if the user has requested the same already. `ids` are the hosts that
 * `asked` matches now.
 */
export async function requestApproval(
  ctx: Context,
  action: ApprovalAction,
  selection: ApprovalSelection,
  ids: readonly number[],
): Promise<Approval> {
  const { user, clock } = ctx;
  const { digest } = await selectionOf(ids);
  const teams = await teamsOf(ctx, ids);
  const first = await firstOf(ctx, ids);
  const row = await ctx.store.tx(
    async (tx) => {
      const isPending = and(eq("requested_by", user.id), eq("state", "pending"), gt("expires_at", clock.iso()));
      const same = await tx.approvals.first({ where: and(isPending, eq("action", action), eq("digest", digest)) });
      if (same) {
        const choice = await tx.approvalChoices.get(same.id);
        if (choice?.asked.wipe_type === selection.wipe_type) return same;
        throw conflict("your request for another kind of wipe of the same hosts is pending: withdraw it first");
      }
      if ((await tx.approvals.count(isPending)) >= MAX_PENDING)
        throw conflict(`${MAX_PENDING} of your requests are pending: wait until they are decided, or withdraw some`);
      const approval = await tx.approvals.insert({
        created_at: clock.iso(),
        expires_at: isoAt(clock.now() + OPEN_FOR),
        action,
        requested_by: user.id,
        requester_name: user.name,
        requester_email: user.email,
        filters: selection.filters ?? null,
        hosts_count: ids.length,
        digest,
        request_reason: selection.reason ?? "",
        first_hosts: first,
      });
      await tx.approvalChoices.insert({ id: approval.id, asked: selection });
      await tx.approvalTeams.insertMany(teams.map((team_id) => ({ approval_id: approval.id, team_id })));
      await recordActivity(within(ctx, tx), "requested_approval", aboutApproval(approval));
      return approval;
    },
    { lock: `approvals-${user.id}` },
  );
  return viewOf(ctx, row);
}

/** The details for activities. */
export function aboutApproval({ id, action, hosts_count, first_hosts }: ApprovalRow) {
  const [only] = first_hosts;
  const host = hosts_count === 1 && only ? { host_id: only.id, host_display_name: only.display_name } : {};
  return { approval_id: id, action, hosts_count, ...host };
}

/** 0 means no team. */
async function teamsOf({ store }: Context, ids: readonly number[]): Promise<number[]> {
  const teams = new Set<number>();
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const counts = await store.hosts.groupCount("team_id", oneOf("id", ids.slice(at, at + BATCH_SIZE)));
    for (const { value } of counts) teams.add(value === null ? 0 : Number(value));
    await setImmediate();
  }
  return [...teams];
}

async function firstOf({ store }: Context, ids: readonly number[]) {
  const first = [...ids].sort((a, b) => a - b).slice(0, SHOWN_HOSTS);
  return store.hosts.pick(["id", "display_name"], { where: oneOf("id", first) });
}
