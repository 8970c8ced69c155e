// Entries are written in the transactions of what they tell of, which commit in any order and wait for nobody. Shortly after, some server
// puts them into the chain: it gives them places without a gap, and hashes. From then on their order is settled: webhooks, streams and
// expiry go by it.
import { createHash } from "node:crypto";
import { channels } from "../core/channels.ts";
import type { Services } from "../core/context.ts";
import { whenTold } from "../core/when-told.ts";
import { serverSecret } from "../secrets/service.ts";
import { eq, isNull } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import { queueActivities } from "../webhooks/activities.ts";
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

/** Entries in one transaction: few enough that the embedded store's other callers hardly wait. */
const BATCH = 500;
/** Nothing should be left without a message; if it is, it waits this long. */
const LOOK_EVERY = 30_000;

const unsealed = isNull("chain_position");
const byPlace = [{ column: "chain_position", direction: "asc" }] as const;

/** One after the other in each server: those that wait for the lock would hold the connections that the one at work may need. */
const turns = new WeakMap<Services["config"], Promise<unknown>>();

/** Seals what waits, the oldest first; safe to call on any server at any time. Gives how many. */
export function sealAll(services: Services): Promise<number> {
  const mine = (turns.get(services.config) ?? Promise.resolve()).then(() => sealWaiting(services));
  turns.set(
    services.config,
    mine.catch(() => undefined),
  );
  return mine;
}

async function sealWaiting(services: Services): Promise<number> {
  const { store } = services;
  if ((await store.activities.first({ where: unsealed })) === null) return 0;
  let sealed = 0;
  let after: number | null = null;
  for (;;) {
    // Read before: inside of a transaction nothing but its own store is at hand.
    const config = await services.config.current();
    const held = { ...services, config: { current: async () => config } };
    const last: { id: number; count: number } | null = await store.tx((tx) => sealSome(held, tx, after), {
      lock: CHAIN_LOCK,
    });
    if (last === null) return sealed;
    sealed += last.count;
    if (last.count < BATCH) return sealed;
    after = last.id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function sealSome(services: Services, tx: ServerTx, after: number | null) {
  // By place, the index finds the few that have none; where many wait, going on after an id does not look at those before it again.
  const rows: ActivityRow[] =
    after === null
      ? await tx.activities.list({ where: unsealed, order: byPlace, limit: BATCH })
      : await tx.activities.list({ where: unsealed, limit: BATCH, after: [after] });
  if (rows.length === 0) return null;
  const now = services.clock.iso();
  const key = await serverSecret({ ...services, store: tx }, CHAIN_SECRET);
  let end = await endOf(services, tx, key, now);
  const sealed = rows.map((row) => {
    end = { position: end.position + 1, hash: entryHash(end, row) };
    return { ...row, chain_position: end.position, chain_hash: end.hash };
  });
  await tx.activities.updateEach(
    sealed.map(({ id, chain_position, chain_hash }) => ({ id, chain_position, chain_hash })),
  );
  await writeEnd(tx, key, "head", end, now);
  await queueActivities(tx, services, sealed);
  await tx.notify(channels.activityChain, String(end.position));
  return { id: rows.at(-1)!.id, count: rows.length };
}

/**
 * Where the next entry goes on from. A chain that was tampered with is never gone on with as if it were sound: a signed break says so for as
 * long as it is kept, and entries after it are chained anew.
 */
async function endOf(services: Services, tx: ServerTx, key: string, now: string): Promise<Link> {
  const ends = await readEnds(tx);
  const damage = await damageOf(tx, ends, key);
  if (damage === null) return ends.heads[0] ?? GENESIS;
  const last = await outermost(tx, "desc");
  const known = [...ends.heads, ...ends.checkpoints, ...ends.breaks].map((row) => row.position);
  const position = Math.max(0, last?.chain_position ?? 0, ...known);
  services.log.error(
    { position },
    `the chain of activities is damaged: ${damage}; new entries are chained anew after position ${position}. See svc audit verify`,
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
  // Where all have expired, the checkpoint is the end.
  const hash = last ? last.chain_hash : checkpoints.find(({ position }) => position === head.position)?.hash;
  if (hash === undefined) return "its last entries were removed";
  return hash === head.hash ? null : "its last entry was changed";
}

export interface Sealer {
  stop(): Promise<void>;
}

export async function startSealer(services: Services): Promise<Sealer> {
  const options = {
    channel: channels.activities,
    least: 50,
    more: 100,
    failure: "activities could not be sealed; tried again soon",
  };
  // At the start, too: what was there before there was a chain.
  const sealing = await whenTold(services, options, () => sealAll(services));
  const looks = setInterval(sealing.plan, LOOK_EVERY);
  looks.unref();
  return {
    async stop() {
      clearInterval(looks);
      await sealing.stop();
    },
  };
}
