// Renders approval requests, and decides who may see them: the requester, and users who may decide.
import type { z } from "zod";
import type { Action } from "../../../api/access.ts";
import type { Approval, ApprovalQuery } from "../../../api/hosts/approvals.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { may, visible } from "../../platform/core/security/access.ts";
import {
  and,
  eq,
  everything,
  exists,
  gt,
  lte,
  not,
  nothing,
  oneOf,
  or,
  type Predicate,
} from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { type ApprovalAction, type ApprovalState, type approvals, approvalTeams } from "./tables.ts";

export type ApprovalRow = RowOf<typeof approvals>;

/** Deciding on an action requires the permission for the action itself. */
export const permissions = {
  delete_hosts: "hosts:delete",
  wipe_host: "hosts:lock",
  wipe_hosts: "hosts:lock",
} satisfies Record<ApprovalAction, Action>;

export async function listApprovals(ctx: Context, query: ApprovalQuery) {
  const where = and(shown(ctx), query.state === undefined ? everything : inState(ctx, query.state));
  const newest = { defaultOrder: [{ column: "id", direction: "desc" }] } as const;
  const { rows, meta } = await page(ctx.store.approvals, query, where, newest);
  return { approvals: await onWire(ctx, rows), meta };
}

export const getApproval = async (ctx: Context, id: number): Promise<Approval> => viewOf(ctx, await shownRow(ctx, id));

export async function viewOf(ctx: Context, row: ApprovalRow): Promise<Approval> {
  const [approval] = await onWire(ctx, [row]);
  return approval!;
}

/** 404 unless the caller created the request or may decide on it. */
export async function shownRow(ctx: Context, id: number): Promise<ApprovalRow> {
  const row = await ctx.store.approvals.first({ where: and(eq("id", id), shown(ctx)) });
  if (!row) throw notFound("approval", id);
  return row;
}

const shown = (ctx: Context): Predicate => or(eq("requested_by", ctx.user.id), decidable(ctx));

/** Requests whose hosts are all on teams on which the caller may perform the action. */
function decidable(ctx: Context): Predicate {
  const parts = Object.entries(permissions).map(([action, permission]) => {
    const visibleHosts = visible(ctx, permission);
    if (visibleHosts.op === "none") return nothing;
    const scope = visibleHosts.op === "all" ? everything : not(exists(approvalTeams, "approval_id", not(visibleHosts)));
    return and(eq("action", action), scope);
  });
  return or(...parts);
}

const isExpired = ({ clock }: Pick<Context, "clock">, { state, expires_at }: ApprovalRow): boolean =>
  state === "pending" && Date.parse(expires_at) <= clock.now();

export const stateOf = (ctx: Pick<Context, "clock">, row: ApprovalRow): ApprovalState =>
  isExpired(ctx, row) ? "expired" : row.state;

function inState({ clock }: Context, state: z.output<typeof Approval>["state"]): Predicate {
  const now = clock.iso();
  if (state === "pending") return and(eq("state", "pending"), gt("expires_at", now));
  if (state === "expired") return or(eq("state", "expired"), and(eq("state", "pending"), lte("expires_at", now)));
  return eq("state", state);
}

async function onWire(ctx: Context, rows: readonly ApprovalRow[]): Promise<Approval[]> {
  const ids = rows.map(({ id }) => id);
  const teams = new Map<number, number[]>(ids.map((id) => [id, []]));
  const placed = await ctx.store.approvalTeams.pick(["approval_id", "team_id"], { where: oneOf("approval_id", ids) });
  for (const { approval_id, team_id } of placed) teams.get(approval_id)?.push(team_id);
  return rows.map((row) => ({
    id: row.id,
    created_at: row.created_at,
    expires_at: row.expires_at,
    action: row.action,
    state: stateOf(ctx, row),
    requested_by: { id: row.requested_by, name: row.requester_name, email: row.requester_email },
    hosts_count: row.hosts_count,
    selection_digest: row.digest,
    hosts: [...row.first_hosts],
    filters: row.filters === null ? null : { ...row.filters },
    decided_by:
      row.decided_at === null ? null : { id: row.decided_by, name: row.decider_name, email: row.decider_email },
    decided_at: row.decided_at,
    finished_at: row.finished_at,
    request_reason: row.request_reason,
    reason: row.reason,
    error: row.error,
    task_id: row.task_id,
    may_decide:
      stateOf(ctx, row) === "pending" &&
      row.requested_by !== ctx.user.id &&
      teams.get(row.id)!.every((team) => may(ctx.user, permissions[row.action], team === 0 ? null : team)),
  }));
}
