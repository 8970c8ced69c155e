// Cancels operations of any hosts that the caller selects by ids or filters.
import type { z } from "zod";
import { OPERATIONS_MAX, type operationsApi } from "../../../api/hosts/operations.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest, invalid } from "../../platform/core/errors.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import { may } from "../../platform/core/security/access.ts";
import { and, oneOf, type Predicate } from "../../platform/store/query.ts";
import { checkSelection, expectedSelection } from "../hosts/selection.ts";
import { operationsWhere } from "./filters.ts";
import type { Operation } from "./kind.ts";
import { NOT_ALLOWED } from "./list.ts";
import { isOpen, operationLock } from "./queue.ts";
import { refusalsOf } from "./refusals.ts";
import { cancelAllowed } from "./upcoming.ts";

type Selection = z.output<typeof operationsApi.cancel.body>;
type SelectedOperation = Pick<Operation, "id" | "host_id">;
/** Why each operation was not cancelled; null: it was. */
type Results = Map<number, string | null>;

/** Each host is a transaction: one operation that has begun meanwhile does not keep the others. */
export async function cancelOperations(ctx: Context, selection: Selection) {
  const { ids, operations } = await selectedOperations(ctx, selection);
  const results: Results = new Map(ids.map((id) => [id, `operation ${id} was not found`]));
  for (const [hostId, ofHost] of groupBy(operations, ({ host_id }) => host_id))
    await cancelOnHost(ctx, hostId, ofHost, results);
  const entries = [...results];
  return {
    cancelled: entries.flatMap(([id, reason]) => (reason === null ? id : [])),
    not_cancelled: entries.flatMap(([id, reason]) => (reason === null ? [] : { id, reason })),
  };
}

async function selectedOperations(ctx: Context, { ids, filters }: Selection) {
  if ((ids === undefined) === (filters === undefined)) throw badRequest("exactly one of ids and filters is required");
  const expected = expectedSelection(ctx);
  const where: Predicate = ids
    ? and(oneOf("id", ids), operationsWhere(ctx, {}))
    : and(isOpen, operationsWhere(ctx, filters!));
  const operations = await ctx.store.operations.pick(["id", "host_id"], { where, limit: OPERATIONS_MAX + 1 });
  if (operations.length > OPERATIONS_MAX) {
    const count = await ctx.store.operations.count(where);
    const reason = `${count} operations match, and at most ${OPERATIONS_MAX} are cancelled at once: add filters, or send their ids in several requests`;
    throw invalid("filters", reason);
  }
  const matches = operations.map(({ id }) => id);
  await checkSelection(expected, matches, "operation");
  return { ids: ids ? [...new Set(ids)] : matches, operations };
}

async function cancelOnHost(
  ctx: Context,
  hostId: number,
  selected: readonly SelectedOperation[],
  results: Results,
): Promise<void> {
  const ids = selected.map(({ id }) => id);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const host = await store.hosts.get(hostId);
    if (!host) return;
    const operations = byId(await store.operations.getMany(ids));
    const refusals = await refusalsOf(inside, [...operations.values()]);
    const isAllowed = may(ctx.user, "hosts:cancel_activity", host.team_id);
    for (const id of ids) {
      const operation = operations.get(id);
      if (!operation) continue;
      const refusal = isAllowed ? (refusals.get(id) ?? null) : NOT_ALLOWED;
      if (refusal === null) await cancelAllowed(inside, host, operation);
      results.set(id, refusal);
    }
  }, operationLock(hostId));
}
