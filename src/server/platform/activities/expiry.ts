// Deletes activities older than the retention period from the start of the chain, leaving a signed checkpoint.
import type { Services } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { serverSecret } from "../shared-rows/secrets.ts";
import { and, eq, gt, lt, lte } from "../store/query.ts";
import { after, CHAIN_LOCK, CHAIN_SECRET, entryHash, GENESIS, type Link, readEnds, writeEnd } from "./chain.ts";

/** Entries per transaction, few enough not to block other writers. */
const BATCH_SIZE = 1000;

/**
 * Deletes sealed entries created before the cutoff, contiguously from the start of the chain. A newer entry keeps those
 * that follow it, whatever their time.
 */
export async function expireActivities(services: Services, cutoff: string, signal: AbortSignal): Promise<number> {
  let gone = 0;
  while (!signal.aborted) {
    const count = await services.store.tx((tx) => expireSome(services, tx, cutoff), { lock: CHAIN_LOCK });
    gone += count;
    if (count < BATCH_SIZE) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return gone;
}

async function expireSome(services: Services, tx: ServerTx, cutoff: string): Promise<number> {
  const { checkpoints } = await readEnds(tx);
  const start: Link = checkpoints.at(-1) ?? GENESIS;
  const rows = await tx.activities.list(after(start.position, BATCH_SIZE));
  const kept = rows.findIndex((row) => row.created_at >= cutoff);
  const old = kept === -1 ? rows : rows.slice(0, kept);
  const last = old.at(-1);
  if (!last) return 0;
  let at = start;
  let sound = true;
  for (const row of old) {
    const next = { position: row.chain_position!, hash: row.chain_hash ?? "" };
    sound &&= next.position === at.position + 1 && entryHash(at, row) === next.hash;
    at = next;
  }
  // A recorded break within the deleted range explains the mismatch.
  const breaks = and(eq("kind", "break"), gt("position", start.position - 1), lt("position", at.position));
  const explained = (await tx.activityChain.count(breaks)) > 0;
  if (!sound && !explained)
    services.log.error(
      { from: start.position + 1, to: at.position },
      "expiring activities do not match the hash chain: some were changed or removed, and cannot be verified any more",
    );
  const key = await serverSecret({ ...services, store: tx }, CHAIN_SECRET);
  await writeEnd(tx, key, "checkpoint", at, services.clock.iso());
  await tx.activityChain.delete(and(eq("kind", "break"), lt("position", at.position)));
  return tx.activities.delete(and(gt("chain_position", start.position), lte("chain_position", at.position)));
}
