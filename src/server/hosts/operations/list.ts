// Operations of all hosts, as users see them.
import { type HostOperation, OPERATIONS_MAX, type OperationQuery } from "../../../api/hosts/operations.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { cursorPage, DEFAULT_PER_PAGE, page } from "../../platform/core/http/paging.ts";
import { byId } from "../../platform/core/maps.ts";
import { may } from "../../platform/core/security/access.ts";
import { oneOf } from "../../platform/store/query.ts";
import { operationsWhere } from "./filters.ts";
import type { Operation, OperationActivity } from "./kind.ts";
import { openOperationsOf } from "./queue.ts";
import { refusalsOf } from "./refusals.ts";
import { asSeen } from "./upcoming.ts";

export async function listOperations(ctx: Context, query: OperationQuery) {
  const { operations } = ctx.store;
  const where = operationsWhere(ctx, query);
  const isWhole = query.page === undefined && query.cursor === undefined;
  const paged = { ...query, per_page: query.per_page ?? (isWhole ? OPERATIONS_MAX : DEFAULT_PER_PAGE) };
  const { rows, meta } =
    query.cursor === undefined
      ? await page(operations, paged, where, { defaultOrder: [{ column: "id", direction: "desc" }] })
      : await cursorPage(operations, paged, where);
  const total = query.with_count ? await operations.count(where) : null;
  return { reply: { operations: await operationsOnWire(ctx, rows), meta }, total };
}

export async function getOperation(ctx: Context, id: number): Promise<HostOperation> {
  const row = await ctx.store.operations.get(id);
  const host = row && (await ctx.store.hosts.get(row.host_id));
  if (!row || !host || !may(ctx.user, "hosts:read_activities", host.team_id)) throw notFound("operation", id);
  const [operation] = await operationsOnWire(ctx, [row]);
  if (!operation) throw notFound("operation", id);
  return operation;
}

/** Operations as the API shows them, without those whose host is deleted meanwhile. */
async function operationsOnWire(ctx: Context, rows: readonly Operation[]): Promise<HostOperation[]> {
  const { store } = ctx;
  const hostIds = [...new Set(rows.map(({ host_id }) => host_id))];
  const columns = ["id", "uuid", "platform", "display_name", "team_id"] as const;
  const hosts = byId(await store.hosts.pick(columns, { where: oneOf("id", hostIds) }));
  const userIds = [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))];
  const users = byId(await store.users.pick(["id", "name"], { where: oneOf("id", userIds) }));
  const refusals = await refusalsOf(ctx, rows);
  const positions = await positionsOf(ctx, rows);
  const [anyHost] = hosts.values();
  // The host is only named in details of activities that are not used here, so that all hosts share the queries.
  const activities = anyHost ? await asSeen(ctx, anyHost, rows) : new Map<number, OperationActivity>();
  return rows.flatMap((row) => {
    const host = hosts.get(row.host_id);
    if (!host) return [];
    const isAllowed = may(ctx.user, "hosts:cancel_activity", host.team_id);
    const refusal = refusals.get(row.id) ?? (isAllowed ? null : NOT_ALLOWED);
    return {
      id: row.id,
      uuid: row.uuid,
      kind: row.kind,
      state: row.state,
      host: { id: host.id, display_name: host.display_name, team_id: host.team_id },
      requested_by: (row.user_id === null ? null : users.get(row.user_id)) ?? null,
      ...reasonOf(row, activities.get(row.id)!),
      created_at: row.created_at,
      sent_at: row.sent_at,
      finished_at: row.ended_at,
      attempts: row.attempts,
      position_in_queue: positions.get(row.id) ?? null,
      can_cancel: refusal === null,
      reason_not_cancellable: refusal,
    };
  });
}

export const NOT_ALLOWED = "your role does not allow you to cancel operations of this host";

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

function reasonOf({ kind, user_id }: Operation, { details }: OperationActivity) {
  const what = details ?? {};
  const detail = [what.script_name, what.software_title, what.request_type].find(isText) ?? kind;
  const source =
    typeof what.policy_id === "number"
      ? "policy"
      : isText(what.batch_execution_id)
        ? "batch"
        : what.self_service === true
          ? "self_service"
          : user_id !== null
            ? "user"
            : "server";
  return { detail, source } as const;
}

/** Places of operations that have not ended among those of their host and lane. */
async function positionsOf({ store }: Context, rows: readonly Operation[]): Promise<ReadonlyMap<number, number>> {
  const open = rows.filter(({ state }) => state === "queued" || state === "sent");
  const queues = new Map(open.map(({ host_id: hostId, lane }) => [`${hostId} ${lane}`, { hostId, lane }]));
  const positions = new Map<number, number>();
  for (const queue of await openOperationsOf(store, [...queues.values()]))
    queue.forEach(({ id }, i) => void positions.set(id, i + 1));
  return positions;
}
