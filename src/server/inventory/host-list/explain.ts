// Explains why a selector matches a host or not: which of its parts match.
import type { WherePart } from "../../../api/inventory/hosts.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq } from "../../platform/store/query.ts";
import { type WherePart as Part, partsOfWhere } from "./selector/where.ts";

export async function explainHost(ctx: Context, id: number, where: string) {
  const host = await hostFor(ctx, "hosts:read", id);
  const parts: WherePart[] = [];
  const add = async ({ text, picks, parts: inner }: Part, depth: number): Promise<boolean> => {
    const matches = (await ctx.store.hosts.count(and(eq("id", host.id), picks))) > 0;
    parts.push({ text, depth, matches });
    for (const part of inner) await add(part, depth + 1);
    return matches;
  };
  const matches = await add(partsOfWhere(where, ctx), 0);
  return { host_id: host.id, where, matches, parts };
}
