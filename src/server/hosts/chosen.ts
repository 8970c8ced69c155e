// The hosts that a bulk change is about: named by ids, or picked by filters.
import { setImmediate } from "node:timers/promises";
import type { Action } from "../../api/access.ts";
import type { BodyHostFilter } from "../../api/host-filters.ts";
import type { Context } from "../core/context.ts";
import { badRequest, notFound } from "../core/errors.ts";
import { oneOf, type Predicate } from "../store/query.ts";
import { admitToHost, knowsOf } from "./access.ts";
import { hostsOfBody } from "./filters.ts";
import { checkSelection, type Expected, expectedSelection, isGiven } from "./selection.ts";

/** Hosts looked at before others get their turn. */
const AT_ONCE = 1000;
const PAGE = 5000;

export interface Choice {
  readonly ids?: readonly number[] | undefined;
  readonly filters?: BodyHostFilter | undefined;
}

/** The ids that are acted on, each once: what is compared with what the caller expects is what the change is made to. */
export async function chosenIds(
  ctx: Context,
  action: Action,
  { ids, filters }: Choice,
  expected = expectedSelection(ctx),
): Promise<number[]> {
  if ((ids === undefined) === (filters === undefined)) throw badRequest("exactly one of ids and filters is required");
  if (ids) return admittedIds(ctx, action, ids, expected);
  const found = await idsWhere(ctx, hostsOfBody(ctx, filters!, action));
  await checkSelection(expected, found);
  return found;
}

/**
 * All of them or none: an id that the caller may not do this to, or that is not there, stops the whole call. Who says what hosts it has seen
 * is told that they are others by now.
 */
async function admittedIds(
  ctx: Context,
  action: Action,
  given: readonly number[],
  expected: Expected,
): Promise<number[]> {
  // What was read and checked so far took its time.
  await setImmediate();
  const ids = [...new Set(given)];
  const missing: number[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const found = await ctx.store.hosts.pick(["id", "team_id"], { where: oneOf("id", some) });
    const hosts = new Map(found.map((host) => [host.id, host]));
    for (const id of some) {
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

/** In ascending order. */
export async function idsWhere({ store }: Pick<Context, "store">, where: Predicate): Promise<number[]> {
  const ids: number[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = await store.hosts.pick(["id"], {
      where,
      limit: PAGE,
      ...(last === undefined ? {} : { after: [last] }),
    });
    for (const { id } of page) ids.push(id);
    if (page.length < PAGE) return ids;
    await setImmediate();
  }
}
