import { setImmediate as breathe } from "node:timers/promises";
import type { LabelRow } from "../../hosts/labels/wire.ts";
import { type LabelWrite, writeLabels } from "../../hosts/labels/write.ts";
import type { Context } from "../../platform/core/context.ts";
import { findMembers } from "./criteria.ts";

/** Writes labels in the caller's transaction, with the members of those that have criteria. */
export async function keepLabels(ctx: Context, writes: readonly LabelWrite[]): Promise<LabelRow[]> {
  const rows = await writeLabels(ctx, writes);
  for (const row of rows) if (await findMembers(ctx, row)) await breathe();
  return rows;
}
