// The scheduled queries of a pack.

import type { z } from "zod";
import type { EntryChange, EntryFields, packsApi } from "../../../api/checks/packs.ts";
import type { ScheduledEntry } from "../../../api/checks/schedule.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { admitKeptSql } from "../../platform/agent-protocol/admit-carving.ts";
import type { Context } from "../../platform/core/context.ts";
import { alreadyExists, invalid, notFound } from "../../platform/core/errors.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import { and, eq } from "../../platform/store/query.ts";
import { UniqueViolation } from "../../platform/store/store.ts";
import { changingQueries } from "../queries/service.ts";
import { packRow } from "./service.ts";
import { entriesOnWire, type ScheduledRow } from "./wire.ts";

type EntryInput = z.output<(typeof packsApi)["schedule"]["body"]>;

export async function entriesOfPack(ctx: Context, packId: number): Promise<ScheduledEntry[]> {
  await packRow(ctx, packId);
  return entriesOnWire(ctx, await ctx.store.scheduledQueries.list({ where: eq("pack_id", packId) }));
}

async function entryRow({ store }: Pick<Context, "store">, id: number): Promise<ScheduledRow> {
  const row = await store.scheduledQueries.get(id);
  if (!row) throw notFound("scheduled query", id);
  return row;
}

const onWire = async (ctx: Context, row: ScheduledRow): Promise<ScheduledEntry> =>
  (await entriesOnWire(ctx, [row]))[0]!;

export const getEntry = async (ctx: Context, id: number): Promise<ScheduledEntry> =>
  onWire(ctx, await entryRow(ctx, id));

export async function scheduleInPack(ctx: Context, input: EntryInput): Promise<ScheduledEntry> {
  return changingQueries(ctx, async (inside) => {
    const pack = await packRow(inside, input.pack_id);
    const query = await inside.store.queries.get(input.query_id);
    if (!query) throw notFound("query", input.query_id);
    if (query.team_id !== null)
      throw invalid("query_id", "the query belongs to a team: packs schedule global ones only");
    admitKeptSql(inside, query.query, null, `the query ${JSON.stringify(query.name)}`);
    const now = inside.clock.iso();
    const row = await inside.store.scheduledQueries.insert({
      created_at: now,
      updated_at: now,
      pack_id: pack.id,
      query_id: query.id,
      name: await freeName(inside, pack.id, input.name?.trim() || query.name),
      ...columns(input),
      interval: input.interval,
    });
    await recordActivity(inside, "edited_pack", { pack_id: pack.id, pack_name: pack.name });
    return onWire(inside, row);
  });
}

/** A pack may contain the same query several times, under different names. */
async function freeName({ store }: Context, packId: number, name: string): Promise<string> {
  const taken = new Set(
    (await store.scheduledQueries.pick(["name"], { where: eq("pack_id", packId) })).map((entry) => entry.name),
  );
  if (!taken.has(name)) return name;
  let number = 1;
  while (taken.has(`${name}-${number}`)) number++;
  return `${name}-${number}`;
}

/** The columns to set. Null resets a column to its default. */
function columns(fields: EntryFields): Partial<ScheduledRow> {
  return {
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fields.snapshot === undefined ? {} : { snapshot: fields.snapshot ?? false }),
    ...(fields.removed === undefined ? {} : { removed: fields.removed ?? true }),
    ...(fields.platform === undefined ? {} : { platform: fields.platform ?? "" }),
    ...(fields.version === undefined ? {} : { version: fields.version ?? "" }),
    ...(fields.shard === undefined ? {} : { shard: fields.shard }),
    ...(fields.denylist === undefined ? {} : { denylist: fields.denylist ?? true }),
  };
}

export async function modifyInPack(ctx: Context, id: number, change: EntryChange): Promise<ScheduledEntry> {
  const name = change.name?.trim();
  if (name === "") throw invalid("name", "must not be empty");
  const changing = changingQueries(ctx, async (inside) => {
    const before = await entryRow(inside, id);
    const { pack_id, query_id, query_name, query: sql } = await onWire(inside, before);
    checkUnchanged(change, { pack_id, query_id, query_name, query: sql });
    const query = await inside.store.queries.get(before.query_id);
    if (query) admitKeptSql(inside, query.query, null, `the query ${JSON.stringify(query.name)}`);
    await inside.store.scheduledQueries.update({
      where: and(eq("id", id)),
      set: {
        ...columns(change),
        ...(name === undefined ? {} : { name }),
        ...(change.interval === undefined ? {} : { interval: change.interval }),
        updated_at: inside.clock.iso(),
      },
    });
    const pack = await packRow(inside, before.pack_id);
    await recordActivity(inside, "edited_pack", { pack_id: pack.id, pack_name: pack.name });
    return onWire(inside, await entryRow(inside, id));
  });
  try {
    return await changing;
  } catch (error) {
    if (error instanceof UniqueViolation)
      throw alreadyExists(`the pack has a query with the name ${JSON.stringify(name)}`);
    throw error;
  }
}

export async function removeFromPack(ctx: Context, id: number): Promise<void> {
  await changingQueries(ctx, async (inside) => {
    const row = await entryRow(inside, id);
    const pack = await packRow(inside, row.pack_id);
    await inside.store.scheduledQueries.delete(eq("id", id));
    await recordActivity(inside, "edited_pack", { pack_id: pack.id, pack_name: pack.name });
  });
}
