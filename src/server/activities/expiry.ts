// What is older than the window goes, from the beginning of the chain on, and leaves a signed checkpoint in its place.
import type { Services } from "../core/context.ts";
import { serverSecret } from "../secrets/service.ts";
import { and, eq, gt, lt, lte } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import { after, CHAIN_LOCK, CHAIN_SECRET, entryHash, GENESIS, type Link, readEnds, writeEnd } from "./chain.ts";

/** Entries in one transaction: short enough that nobody waits for it. */
const BATCH = 1000;

/**
 * Deletes sealed entries, from the oldest place on and without a hole, while they are from before the cutoff. One that is newer keeps those
 * behind it, whatever their time says.
 */
export async function expireActivities(services: Services, cutoff: string, signal: AbortSignal): Promise<number> {
  let gone = 0;
  while (!signal.aborted) {
    const count = await services.store.tx((tx) => expireSome(services, tx, cutoff), { lock: CHAIN_LOCK });
    gone += count;
    if (count < BATCH) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return gone;
}

async function expireSome(services: Services, tx: ServerTx, cutoff: string): Promise<number> {
  const { checkpoints } = await readEnds(tx);
  const start: Link = checkpoints.at(-1) ?? GENESIS;
  const rows = await tx.activities.list(after(start.position, BATCH));
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
  // A break that expires with what it told of explains what does not fit.
  const breaks = and(eq("kind", "break"), gt("position", start.position - 1), lt("position", at.position));
  const explained = (await tx.activityChain.count(breaks)) > 0;
  if (!sound && !explained)
    services.log.error(
      { from: start.position + 1, to: at.position },
      "activities that expire were changed or removed before: what is wrong with them cannot be looked up any more",
    );
  const key = await serverSecret({ ...services, store: tx }, CHAIN_SECRET);
  await writeEnd(tx, key, "checkpoint", at, services.clock.iso());
  await tx.activityChain.delete(and(eq("kind", "break"), lt("position", at.position)));
  return tx.activities.delete(and(gt("chain_position", start.position), lte("chain_position", at.position)));
}
