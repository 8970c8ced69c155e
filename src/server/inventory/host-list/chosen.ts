// Selects the hosts of a bulk change: by ids or by filters.

import { setImmediate } from "node:timers/promises";
import type { Action } from "../../../api/access.ts";
import type { BodyHostFilter } from "../../../api/inventory/host-filters.ts";
import { admitToHost, knowsOf } from "../../hosts/hosts/access.ts";
import { checkSelection, type ExpectedSelection, expectedSelection, isGiven } from "../../hosts/hosts/selection.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import { hostsOfBody } from "./filters.ts";
import { checkNames } from "./selector/known-names.ts";

/** Hosts that are checked before the event loop serves other requests. */
const HOSTS_PER_PART = 1000;
const BATCH_SIZE = 5000;

export interface Choice {
  readonly ids?: readonly number[] | undefined;
  readonly filters?: BodyHostFilter | undefined;
}

/**
 * The ids to act on, without duplicates. The list that is compared with the caller's expectation is the list that is
 * changed.
 */
export async function chosenIds(
  ctx: Context,
  action: Action,
  { ids, filters }: Choice,
  expected = expectedSelection(ctx),
): Promise<number[]> {
  if ((ids === undefined) === (filters === undefined)) throw badRequest("exactly one of ids and filters is required");
  if (ids) return admittedIds(ctx, action, ids, expected);
  const where = hostsOfBody(ctx, filters!, action);
  await checkNames(ctx, filters!.where ?? undefined);
  const matches = await idsWhere(ctx, where);
  await checkSelection(expected, matches);
  return matches;
}

/**
 * All or nothing: one id that does not exist, or on which the caller may not do this, refuses the whole call. If the
 * caller sent the selection that it has seen, a missing id is reported as a changed selection.
 */
async function admittedIds(
  ctx: Context,
  action: Action,
  requestedIds: readonly number[],
  expected: ExpectedSelection,
): Promise<number[]> {
  // Reading and checking the request took time: let other requests run first.
  await setImmediate();
  const ids = [...new Set(requestedIds)];
  const missing: number[] = [];
  for (let at = 0; at < ids.length; at += HOSTS_PER_PART) {
    const batch = ids.slice(at, at + HOSTS_PER_PART);
    const rows = await ctx.store.hosts.pick(["id", "team_id"], { where: oneOf("id", batch) });
    const hosts = byId(rows);
    for (const id of batch) {
      const host = hosts.get(id);
      if (isGiven(expected) && !knowsOf(ctx, host)) missing.push(id);
      else admitToHost(ctx, action, id, host);
    }
    await setImmediate();
  }
  const gone = new Set(missing);
  await checkSelection(expected, gone.size === 0 ? ids : ids.filter((id) => !gone.has(id)));
  if (missing[0] !== undefined) throw notFound("host", missing[0]);
  return ids;
}

/** The ids of the matching hosts, in ascending order. */
export async function idsWhere({ store }: Pick<Context, "store">, where: Predicate): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = await store.hosts.pick(["id"], {
      where,
      limit: BATCH_SIZE,
      ...(last === undefined ? {} : { after: [last] }),
    });
    for (const { id } of page) ids.push(id);
    if (page.length < BATCH_SIZE) return ids;
    await setImmediate();
  }
}
