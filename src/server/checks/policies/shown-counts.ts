// Policy counts restricted to what the caller may see. The stored counts cover all hosts of a policy; callers with
// access to some teams only, and lists of one team, get global policies counted over those hosts.

import { hosts } from "../../hosts/hosts/tables.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { visible } from "../../platform/core/security/access.ts";
import { and, everything, exists, type Predicate } from "../../platform/store/query.ts";
import type { PolicyRow } from "./applies.ts";
import { unansweredCounts } from "./unanswered.ts";

interface Counts {
  readonly passing_host_count: number;
  readonly failing_host_count: number;
  readonly unanswered_host_count: number;
}

type Scopes = Parameters<typeof unansweredCounts>[2];
type Reader = Pick<Context, "store" | "user" | "running">;

/** The hosts to count; `everything` if the stored counts can be used. `own` restricts them to the hosts of a list. */
export function countedHosts(ctx: Pick<Context, "user">, chosen: Predicate = everything): Predicate {
  const seen = visible(ctx, "hosts:list");
  if (chosen === everything) return seen;
  return seen === everything ? chosen : and(seen, chosen);
}

/** By policy id. */
export async function shownCounts(
  ctx: Reader,
  rows: readonly PolicyRow[],
  scopes: Scopes,
  chosen?: Predicate,
): Promise<ReadonlyMap<number, Counts>> {
  const counted = countedHosts(ctx, chosen);
  const isNarrowed = ({ scope }: PolicyRow) => scope === "global" && counted !== everything;
  const narrowed = await narrow(ctx, rows.filter(isNarrowed), counted);
  const whole = rows.filter((row) => !isNarrowed(row));
  const unanswered = new Map([
    ...(await unansweredCounts(ctx.store, whole, scopes)),
    ...(await unansweredCounts(ctx.store, narrowed, scopes, counted)),
  ]);
  return new Map(
    [...whole, ...narrowed].map(({ id, passing_host_count, failing_host_count }) => [
      id,
      { passing_host_count, failing_host_count, unanswered_host_count: unanswered.get(id)! },
    ]),
  );
}

/** The rows with their counts over these hosts only. */
async function narrow(ctx: Reader, rows: readonly PolicyRow[], counted: Predicate): Promise<PolicyRow[]> {
  if (rows.length === 0) return [];
  const { passing, failing } = await ctx.running
    .of(sharing)
    .run(`policies of hosts ${JSON.stringify(counted)}`, async () => {
      const isCounted = exists(hosts, "id", counted);
      const by = async (column: "passing" | "failing") =>
        new Map((await ctx.store.hostPolicies.groupCount(column, isCounted)).map(({ value, count }) => [value, count]));
      return { passing: await by("passing"), failing: await by("failing") };
    });
  return rows.map((row) => ({
    ...row,
    passing_host_count: passing.get(row.result_id) ?? 0,
    failing_host_count: failing.get(row.result_id) ?? 0,
  }));
}
