// Limits how many hosts one user may wipe or delete per hour. The counts are in the store, so they are shared by all
// servers and survive restarts.
import { durationText } from "../../../text/duration.ts";
import { hours, isoAt, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { overBudget } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, lte } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { dangerUses } from "./tables.ts";

type Use = RowOf<typeof dangerUses>;
const MINUTE = minutes(1);
/**
 * Uses are counted per minute. Each counts for an hour from the end of its minute, so that no hour exceeds the
 * budget.
 */
const BUDGET_SPAN = hours(1) + MINUTE;

const words = { wipe: "wiped", delete: "deleted" } as const;

/**
 * Charges the hosts to the user's budget, in the caller's transaction or one of its own. 429 if the budget is
 * exceeded.
 */
export async function spend(ctx: Context, action: Use["action"], hosts: number): Promise<void> {
  const { settings, user, clock } = ctx;
  const budget = action === "wipe" ? settings.wipes_per_hour : settings.host_deletes_per_hour;
  if (budget === 0 || hosts === 0 || user.kind !== "user") return;
  await ctx.store.tx(
    async (tx) => {
      const now = clock.now();
      const recentUses = and(eq("user_id", user.id), eq("action", action), gt("minute", isoAt(now - BUDGET_SPAN)));
      const uses = await tx.dangerUses.list({ where: recentUses, order: [{ column: "minute", direction: "asc" }] });
      refuseBeyond({ budget, hosts, uses, now, action, email: user.email });
      const minute = isoAt(now - (now % MINUTE));
      const before = uses.find((use) => use.minute === minute)?.hosts ?? 0;
      const row = { user_id: user.id, action, minute, hosts: before + hosts };
      await tx.dangerUses.upsert([row], { on: ["user_id", "action", "minute"], returning: [] });
    },
    { lock: `danger-${user.id}` },
  );
}

interface Bill {
  readonly budget: number;
  readonly hosts: number;
  readonly uses: readonly Use[];
  readonly now: number;
  readonly action: Use["action"];
  readonly email: string;
}

function refuseBeyond({ budget, hosts, uses, now, action, email }: Bill): void {
  let used = uses.reduce((sum, use) => sum + use.hosts, 0);
  if (used + hosts <= budget) return;
  const rule = `at most ${budget} hosts may be ${words[action]} by one user within an hour`;
  if (hosts > budget) throw overBudget(`${rule}; this would be ${hosts} at once`, BUDGET_SPAN / 1000);
  const reason = `${rule}; ${email} has ${words[action]} ${used}`;
  let free = now;
  for (const use of uses) {
    used -= use.hosts;
    free = Date.parse(use.minute) + BUDGET_SPAN;
    if (used + hosts <= budget) break;
  }
  const seconds = Math.max(1, Math.ceil((free - now) / 1000));
  throw overBudget(`${reason}; there is room for ${hosts} more in ${durationText(seconds)}`, seconds);
}

/** Deletes uses that no longer count. */
export const forgetUses = ({ store, clock }: Pick<Context, "clock"> & { store: ServerTx }): Promise<number> =>
  store.dangerUses.delete(lte("minute", isoAt(clock.now() - BUDGET_SPAN)));
