// What devices report about updates of their system: which they look for, what becomes of them, and of the deadline.
import { z } from "zod";
import { lockOperations } from "../../../hosts/operations/queue.ts";
import { clip } from "../../../platform/agent-protocol/rows.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import type { appleUpdateReports } from "./tables.ts";
import { declareTo } from "./updates.ts";

const text = z.string().optional().catch(undefined);
/** Reports contain what has changed only. */
export const SoftwareUpdateItems = z.object({
  "device-id": text,
  "install-state": text,
  "pending-version": z.object({ "os-version": text }).optional().catch(undefined),
  "failure-reason": z
    .object({ count: z.number().catch(0), reason: text })
    .optional()
    .catch(undefined),
});
export type SoftwareUpdateItems = z.infer<typeof SoftwareUpdateItems>;

/** What the device makes of its deadline. */
export interface DeadlineVerdict {
  readonly is_accepted: boolean;
  readonly refusal: string;
}

type Report = Omit<RowOf<typeof appleUpdateReports>, "revision" | "reported_at">;
type Facts = Omit<Report, "id">;

function factsIn(items: SoftwareUpdateItems | undefined, verdict: DeadlineVerdict | null): Partial<Facts> {
  const pending = items?.["pending-version"];
  const failed = items?.["failure-reason"];
  const facts = {
    device: items?.["device-id"],
    install_state: items?.["install-state"],
    pending_version: pending && (pending["os-version"] ?? ""),
    failure: failed && (failed.count > 0 ? (failed.reason ?? "") : ""),
  };
  const shown = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, clip(value)]]));
  return { ...Object.fromEntries(shown), ...verdict };
}

const nothing: Facts = {
  device: "",
  install_state: "",
  pending_version: "",
  failure: "",
  is_accepted: false,
  refusal: "",
};

/** Keeps what has changed. A device whose newest version is known only now gets its deadline. */
export async function keepUpdateReport(
  ctx: Context,
  hostId: number,
  items: SoftwareUpdateItems | undefined,
  verdict: DeadlineVerdict | null,
): Promise<void> {
  const facts = factsIn(items, verdict);
  if (!(await isNew(ctx.store, hostId, facts))) return;
  await ctx.store.tx(async (store) => {
    // Changes of what devices are to read need the lock of their operations.
    await lockOperations(store, [hostId]);
    const before = await store.appleUpdateReports.get(hostId);
    const row = { ...nothing, ...before, ...facts, id: hostId, reported_at: ctx.clock.iso() };
    await store.appleUpdateReports.upsert([row], { on: ["id"], returning: [] });
    if (row.device !== (before?.device ?? "")) await declareTo(within(ctx, store), [hostId]);
  });
}

async function isNew(store: ServerTx, hostId: number, facts: Partial<Facts>): Promise<boolean> {
  const names = Object.keys(facts) as (keyof Facts)[];
  if (names.length === 0) return false;
  const before: Facts = (await store.appleUpdateReports.get(hostId)) ?? nothing;
  return names.some((name) => before[name] !== facts[name]);
}
