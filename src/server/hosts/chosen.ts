// The hosts that a bulk change is about: named by ids, or picked by filters.
import { setImmediate } from "node:timers/promises";
import type { Action } from "../../api/access.ts";
import type { BodyHostFilter } from "../../api/hosts.ts";
import type { Context } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { oneOf } from "../store/query.ts";
import { admitToHost } from "./access.ts";
import { hostsOfBody } from "./filters.ts";

/** Hosts looked at before others get their turn. */
const AT_ONCE = 1000;
const PAGE = 5000;

export async function chosenIds(
  ctx: Context,
  action: Action,
  { ids, filters }: { ids?: readonly number[] | undefined; filters?: BodyHostFilter | undefined },
): Promise<number[]> {
  if ((ids === undefined) === (filters === undefined)) throw badRequest("exactly one of ids and filters is required");
  return ids ? admittedIds(ctx, action, ids) : idsOfFilter(ctx, action, filters!);
}

/** All of them or none: an id that the caller may not do this to, or that is not there, stops the whole call. */
async function admittedIds(ctx: Context, action: Action, given: readonly number[]): Promise<number[]> {
  // What was read and checked so far took its time.
  await setImmediate();
  const ids = [...new Set(given)];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE);
    const found = await ctx.store.hosts.pick(["id", "team_id"], { where: oneOf("id", some) });
    const hosts = new Map(found.map((host) => [host.id, host]));
    for (const id of some) admitToHost(ctx, action, id, hosts.get(id));
    await setImmediate();
  }
  return ids;
}

async function idsOfFilter(ctx: Context, action: Action, filters: BodyHostFilter): Promise<number[]> {
  const where = hostsOfBody(ctx, filters, action);
  const ids: number[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = await ctx.store.hosts.pick(["id"], {
      where,
      limit: PAGE,
      ...(last === undefined ? {} : { after: [last] }),
    });
    for (const { id } of page) ids.push(id);
    if (page.length < PAGE) return ids;
    await setImmediate();
  }
}
