// What an action on many hosts would do, without doing it.
import { setImmediate } from "node:timers/promises";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import type { Context } from "../../platform/core/context.ts";
import { type BulkAction, judge } from "./action.ts";
import { MAX_REASONS, MAX_SHOWN_HOSTS } from "./outcome.ts";
import { reasonFor } from "./reasons.ts";

/** Hosts that are read together, before the server does something else. */
const BATCH_SIZE = 1000;

interface FewHosts {
  count: number;
  readonly hosts: { readonly id: number; readonly display_name: string }[];
}

const noHosts = (): FewHosts => ({ count: 0, hosts: [] });

function add(few: FewHosts, id: number, display_name: string): void {
  few.count++;
  if (few.hosts.length < MAX_SHOWN_HOSTS) few.hosts.push({ id, display_name });
}

/** The outcome that the action would have now. `ids` in ascending order. */
export async function previewOf<O>(
  ctx: Context,
  action: BulkAction<O>,
  ids: readonly number[],
  options: O,
): Promise<BulkOutcome> {
  const done = noHosts();
  const skipped = new Map<string, FewHosts>();
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const batch = ids.slice(at, at + BATCH_SIZE);
    const { refusals, names } = await judge(ctx, action, batch, options);
    for (const id of batch) {
      const name = names.get(id) ?? "";
      const refusal = refusals.get(id);
      if (refusal === undefined) add(done, id, name);
      else {
        const reason = reasonFor(refusal, name);
        const few = skipped.get(reason) ?? noHosts();
        skipped.set(reason, few);
        add(few, id, name);
      }
    }
    await setImmediate();
  }
  const reasons = [...skipped].map(([reason, few]) => ({ reason, ...few }));
  reasons.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  return {
    count: ids.length,
    done: done.count,
    hosts: done.hosts,
    skipped: ids.length - done.count,
    skipped_reasons: reasons.slice(0, MAX_REASONS),
    task_id: null,
  };
}
