// Why a selector picks a host, or does not: which of its parts hold.
import type { WherePart } from "../../api/hosts.ts";
import type { Context } from "../core/context.ts";
import { and, eq } from "../store/query.ts";
import { hostFor } from "./access.ts";
import { type WherePart as Part, partsOfWhere } from "./selector/where.ts";

export async function explainHost(ctx: Context, id: number, where: string) {
  const host = await hostFor(ctx, "hosts:read", id);
  const parts: WherePart[] = [];
  const add = async ({ text, picks, parts: inner }: Part, depth: number): Promise<boolean> => {
    const held = (await ctx.store.hosts.count(and(eq("id", host.id), picks))) > 0;
    parts.push({ text, depth, held });
    for (const part of inner) await add(part, depth + 1);
    return held;
  };
  const held = await add(partsOfWhere(where, ctx), 0);
  return { host_id: host.id, where, held, parts };
}
