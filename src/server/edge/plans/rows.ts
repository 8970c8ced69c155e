import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { and, eq } from "../../platform/store/query.ts";
import { readablePlans } from "./access.ts";
import type { StoredRequest } from "./stored.ts";
import type { PlanRow } from "./tables.ts";

/** A plan that the caller may not read is answered like a missing one. */
export async function planFor(ctx: Context, id: number): Promise<PlanRow> {
  const row = await ctx.store.plans.first({ where: and(eq("id", id), readablePlans(ctx)) });
  if (!row) throw notFound("plan", id);
  return row;
}

export async function contentOf({ store }: Context, id: number) {
  const content = await store.planContents.get(id);
  if (!content) throw notFound("plan", id);
  return { ...content, request: JSON.parse(content.request) as StoredRequest };
}

export type PlanContent = Awaited<ReturnType<typeof contentOf>>;
