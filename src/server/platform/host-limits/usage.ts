// What one host may add to the store in a period, whichever server it calls.
import { createHash } from "node:crypto";
import type { Services } from "../core/context.ts";
import { type Limit, limit } from "../core/limits.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq, oneOf } from "../store/query.ts";

/** A limit over time for one host. Its name identifies it in the store and in metrics. */
interface HostLimit extends Limit {
  readonly name: string;
  readonly period: number;
}

type Declaration = Omit<Limit, "per" | "period"> & { readonly period: number };

export const hostLimit = (name: string, { period, ...declaration }: Declaration): HostLimit => ({
  ...limit({ ...declaration, per: "host", period }),
  name,
  period,
});

export type LimitServices = Pick<Services, "clock" | "log" | "metrics"> & { readonly store: ServerTx };

/** Above this share of its limit, a host is in the log already. */
const LOGGED_FROM = 0.9;

/**
 * Adds amounts to what the hosts have used. Returns how much of its amount each host is granted: all of it, or what was
 * left. What was used is free again after the period, evenly. Call it in the transaction of the change that it limits;
 * with `lock`, in a transaction of its own, in which servers take turns.
 */
export async function grant(
  services: LimitServices,
  hostLimit: HostLimit,
  amounts: ReadonlyMap<number, number>,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<Map<number, number>> {
  const claims = new Map([...amounts].filter(([, amount]) => amount > 0));
  if (claims.size === 0) return new Map();
  const { store } = services;
  if (!lock) return grantIn(store, services, hostLimit, claims);
  return store.tx((tx) => grantIn(tx, services, hostLimit, claims), { lock: `host limit ${hostLimit.name}` });
}

/** Whether the host may do it once more: not if the content equals that of the last time, which was not long ago. */
export async function grantUnequal(
  services: LimitServices,
  hostLimit: HostLimit,
  hostId: number,
  { content, mergedFor }: { readonly content: string; readonly mergedFor: number },
): Promise<boolean> {
  const { store, clock } = services;
  const row = and(eq("host_id", hostId), eq("limit_name", hostLimit.name));
  const last = await store.hostUsage.first({ where: row });
  const digest = createHash("sha256").update(content).digest("base64url");
  const age = last === null ? 0 : clock.now() - Date.parse(last.updated_at);
  if (last?.last_digest === digest && age >= 0 && age < mergedFor) return false;
  const granted = await grant(services, hostLimit, new Map([[hostId, 1]]));
  if (granted.get(hostId) !== 1) return false;
  await store.hostUsage.update({ where: row, set: { last_digest: digest } });
  return true;
}

async function grantIn(
  tx: ServerTx,
  { clock, log, metrics }: Omit<LimitServices, "store">,
  { name, max, period, what }: HostLimit,
  amounts: ReadonlyMap<number, number>,
): Promise<Map<number, number>> {
  const now = clock.now();
  const rows = await tx.hostUsage.list({ where: and(oneOf("host_id", [...amounts.keys()]), eq("limit_name", name)) });
  const rowOf = new Map(rows.map((row) => [row.host_id, row]));
  const granted = new Map<number, number>();
  const used = [...amounts].map(([host_id, amount]) => {
    const row = rowOf.get(host_id);
    // A time in the future was written before the clock was set back.
    const elapsed = row ? Math.max(0, now - Date.parse(row.updated_at)) : 0;
    const before = row ? Math.max(0, row.used - (max * elapsed) / period) : 0;
    const share = Math.max(0, Math.min(amount, Math.floor(max - before)));
    granted.set(host_id, share);
    if (share < amount) {
      metrics.hostLimits.inc({ limit: name });
      if (before < LOGGED_FROM * max) log.warn({ host_id, limit: name, max }, `a host has reached a limit: ${what}`);
    }
    return { host_id, limit_name: name, used: before + share, updated_at: clock.iso() };
  });
  await tx.hostUsage.upsert(used, {
    on: ["host_id", "limit_name"],
    set: ["used", "updated_at"],
    returning: [],
  });
  return granted;
}
