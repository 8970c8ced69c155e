// Adds entries to the chain. They are recorded in the transaction of the change that they describe, and such
// transactions commit in any order. Shortly after, one server assigns contiguous positions and hashes. Webhooks,
// streams and expiry use that order.

import { createHash } from "node:crypto";
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { part } from "../core/running.ts";
import type { ServerTx } from "../core/tables.ts";
import { serverSecret } from "../shared-rows/secrets.ts";
import { eq, isNull } from "../store/query.ts";
import {
  type ActivityRow,
  CHAIN_LOCK,
  CHAIN_SECRET,
  type Ends,
  after as entriesAfter,
  entryHash,
  GENESIS,
  isSigned,
  type Link,
  outermost,
  readEnds,
  signatureOf,
  writeEnd,
} from "./chain.ts";

/** Entries per transaction, few enough not to block other writers of the embedded store. */
const BATCH_SIZE = 500;

const unsealed = isNull("chain_position");
const byPlace = [{ column: "chain_position", direction: "asc" }] as const;

/** One run at a time per server: waiting runs would occupy connections that the running one may need. */
const turns = part("turns of the sealer", (): { last: Promise<unknown> } => ({ last: Promise.resolve() }));

/** Queues the requests for entries that have just been sealed, in their transaction. */
export type QueueSealed = (
  tx: ServerTx,
  services: Pick<Services, "clock" | "random">,
  rows: readonly ActivityRow[],
) => Promise<void>;

/** Seals all pending entries, oldest first, and returns their number. Safe to call on any server at any time. */
export function sealEntries(services: Services, queue: QueueSealed): Promise<number> {
  const turn = services.running.of(turns);
  const mine = turn.last.then(() => sealWaiting(services, queue));
  turn.last = mine.catch(() => undefined);
  return mine;
}

async function sealWaiting(services: Services, queue: QueueSealed): Promise<number> {
  const { store } = services;
  if ((await store.activities.first({ where: unsealed })) === null) return 0;
  let sealed = 0;
  let after: number | null = null;
  for (;;) {
    const last: { id: number; count: number } | null = await store.tx(
      (tx) => sealSome({ services, queue }, tx, after),
      {
        lock: CHAIN_LOCK,
      },
    );
    if (last === null) return sealed;
    sealed += last.count;
    if (last.count < BATCH_SIZE) return sealed;
    after = last.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function sealSome(
  { services, queue }: { readonly services: Services; readonly queue: QueueSealed },
  tx: ServerTx,
  after: number | null,
) {
  // The index on chain_position finds few pending entries quickly; for many, continue after the last id instead.
  const rows: ActivityRow[] =
    after === null
      ? await tx.activities.list({ where: unsealed, order: byPlace, limit: BATCH_SIZE })
      : await tx.activities.list({ where: unsealed, limit: BATCH_SIZE, after: [after] });
  if (rows.length === 0) return null;
  const now = services.clock.iso();
  const key = await serverSecret({ ...services, store: tx }, CHAIN_SECRET);
  let end = await endOf(services, tx, key, now);
  const sealed = rows.map((row) => {
    end = { position: end.position + 1, hash: entryHash(end, row) };
    return { ...row, chain_position: end.position, chain_hash: end.hash };
  });
  await tx.activities.updateEach(
    sealed.map(({ id, chain_position, chain_hash }) => ({
      id,
      chain_position,
      chain_hash,
      webhook_url: null,
      host_requests: null,
    })),
  );
  await writeEnd(tx, key, "head", end, now);
  await queue(tx, services, sealed);
  await tx.notify(channels.activityChain, String(end.position));
  return { id: rows.at(-1)!.id, count: rows.length };
}

/**
 * The link that the next entry continues from. If the chain has been tampered with, a signed break is recorded and a
 * new chain starts there, so that later entries do not make it look intact.
 */
async function endOf(services: Services, tx: ServerTx, key: string, now: string): Promise<Link> {
  const ends = await readEnds(tx);
  const damage = await damageOf(tx, ends, key);
  if (damage === null) return ends.heads[0] ?? GENESIS;
  const last = await outermost(tx, "desc");
  const positions = [...ends.heads, ...ends.checkpoints, ...ends.breaks].map((row) => row.position);
  const position = Math.max(0, last?.chain_position ?? 0, ...positions);
  services.log.error(
    { position },
    `the chain of activities is damaged: ${damage}. A new chain starts after position ${position}; run svc audit verify for details`,
  );
  const hash = createHash("sha256").update(services.random.token(32)).digest("hex");
  const mark = { kind: "break" as const, position, hash };
  await tx.activityChain.insert({ ...mark, created_at: now, signature: signatureOf(key, mark) });
  return mark;
}

async function damageOf(tx: ServerTx, { heads, checkpoints, breaks }: Ends, key: string): Promise<string | null> {
  const [head] = heads;
  if (!head) {
    const fresh = checkpoints.length + breaks.length === 0 && (await outermost(tx, "asc")) === null;
    return fresh ? null : "the record of its end was removed";
  }
  if (heads.length > 1) return "its end is recorded more than once";
  if (!isSigned(key, head)) return "the record of its end was changed";
  if ((await tx.activities.list(entriesAfter(head.position, 1))).length > 0) return "entries were added after its end";
  const last = await tx.activities.first({ where: eq("chain_position", head.position) });
  // If all entries have expired, the checkpoint is the end.
  const hash = last ? last.chain_hash : checkpoints.find(({ position }) => position === head.position)?.hash;
  if (hash === undefined) return "its last entries were removed";
  return hash === head.hash ? null : "its last entry was changed";
}
