// Authenticates hosts by their own key: the query engine's node key or the managed agent's key.

import type { Context } from "../../platform/core/context.ts";
import { authenticationRequired } from "../../platform/core/errors.ts";
import { proved } from "../../platform/core/http/strangers.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { eq } from "../../platform/store/query.ts";
import { managedAgents } from "./agents.ts";
import { checkSigned, hostsWithIdentity } from "./identity.ts";

export interface CallingHost {
  readonly id: number;
  readonly team_id: number | null;
}

/**
 * The key in `Authorization: Node key KEY`, or in the shorter form that query engines send. Null for any other
 * header.
 */
export const nodeKeyIn = (header: string): string | null =>
  /^node ?key +(\S{1,256})$/i.exec(header.trim())?.[1] ?? null;

/**
 * 401 if no host has the key, or if the host signs its requests and has not signed this one. 429 after too many unknown
 * keys from the address.
 */
export async function hostOfKey(ctx: Context, key: string): Promise<CallingHost> {
  const [host] = await ctx.store.hosts.pick(["id", "team_id"], { where: eq("node_key_hash", tokenHash(key)) });
  if (host) {
    const signing = await hostsWithIdentity(ctx.store, [host.id], ctx.clock.iso());
    if (signing.has(host.id)) await checkSigned(ctx, host.id);
    return host;
  }
  const { hostId, teamId } = await ctx.running.of(managedAgents).find(key, ctx);
  return { id: hostId, team_id: teamId };
}

/** The host of a request to an endpoint that only hosts may call. */
export async function callingHost(ctx: Context): Promise<CallingHost> {
  const key = nodeKeyIn(ctx.headers?.get("authorization") ?? "");
  if (key === null) throw authenticationRequired();
  const host = await hostOfKey(ctx, key);
  proved(ctx);
  return host;
}
