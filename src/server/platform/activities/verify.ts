// Verifies the chain of activities: recomputes every entry's hash, from the checkpoint to the signed end.
import type { ChainProblem, Verification } from "../../../api/platform/activities.ts";
import { badRequest } from "../core/errors.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq, gt, isNull } from "../store/query.ts";
import {
  type ActivityRow,
  after,
  CHAIN_SECRET,
  type ChainRow,
  type Ends,
  entryHash,
  GENESIS,
  isSigned,
  type Link,
  outermost,
  readEnds,
} from "./chain.ts";

/** Entries verified before yielding to the event loop. */
const BATCH_SIZE = 500;
/** How many entries are searched for one that is out of place. */
const MAX_ENTRIES_SEARCHED = 20_000;

interface VerifyOptions {
  /** Continue after this position, where an earlier part ended. */
  readonly from?: number | undefined;
  /** Maximum number of entries to verify. */
  readonly limit?: number | undefined;
  /** A position and its hash, noted at an earlier verification. */
  readonly noted?: Link | undefined;
}

class Broken extends Error {
  readonly problem: ChainProblem;

  constructor(kind: ChainProblem["kind"], position: number | null, id: number | null, detail: string) {
    super(detail);
    this.problem = { kind, position, id, detail };
  }
}

export async function verifyChain(store: ServerTx, options: VerifyOptions = {}): Promise<Verification> {
  const unsealed = await store.activities.count(isNull("chain_position"));
  const sealed = (await store.activities.count()) - unsealed;
  const first = await outermost(store, "asc");
  const last = await outermost(store, "desc");
  let checked = 0;
  let next: number | null = null;
  let problem: ChainProblem | null = null;
  try {
    const walk = await begin(store, options);
    if (walk !== null) {
      const { end, more } = await follow(store, walk, options.limit ?? Number.POSITIVE_INFINITY, (count) => {
        checked += count;
      });
      if (more) next = end.position;
      else await checkEnd(store, walk, end);
    }
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    problem = error.problem;
  }
  const { heads } = await readEnds(store);
  return {
    ok: problem === null,
    entries: sealed,
    unsealed,
    first_position: first?.chain_position ?? null,
    last_position: last?.chain_position ?? null,
    checked,
    next,
    head: heads.length === 1 ? { position: heads[0]!.position, hash: heads[0]!.hash } : null,
    problem,
  };
}

interface Walk {
  readonly key: string;
  readonly head: ChainRow;
  readonly start: Link;
  readonly breaks: ReadonlyMap<number, ChainRow>;
}

/** The signed points to verify between; null if there is no chain yet. */
async function begin(store: ServerTx, { from, noted }: VerifyOptions): Promise<Walk | null> {
  const secret = await store.serverSecrets.first({ where: eq("name", CHAIN_SECRET) });
  const ends = await readEnds(store);
  const last = await outermost(store, "desc");
  if (secret === null && last === null && ends.heads.length === 0) return null;
  const key = secret?.value ?? "";
  const head = soleSigned(key, ends.heads, "head");
  if (head === null)
    throw new Broken("no_head", null, last?.id ?? null, "the signed record of the chain's end was removed");
  for (const chainBreak of ends.breaks)
    if (!isSigned(key, chainBreak))
      throw new Broken("bad_signature", chainBreak.position, null, "the record of a break was changed");
  const checkpoint = startOf(key, ends);
  await checkStart(store, checkpoint);
  if (noted) await checkNoted(store, noted, checkpoint, head);
  if (from !== undefined && from > head.position)
    throw badRequest(`the chain ends at position ${head.position}`, "from");
  const start = from === undefined || from <= checkpoint.position ? checkpoint : await linkAt(store, from);
  return { key, head, start, breaks: new Map(ends.breaks.map((row) => [row.position, row])) };
}

function soleSigned(key: string, rows: readonly ChainRow[], what: string): ChainRow | null {
  for (const row of rows)
    if (!isSigned(key, row))
      throw new Broken("bad_signature", row.position, null, `the record of the chain's ${what} was changed`);
  if (rows.length > 1)
    throw new Broken("bad_signature", rows.at(-1)!.position, null, `the chain's ${what} is recorded more than once`);
  return rows[0] ?? null;
}

const startOf = (key: string, { checkpoints }: Ends): Link => soleSigned(key, checkpoints, "checkpoint") ?? GENESIS;

async function checkStart(store: ServerTx, checkpoint: Link): Promise<void> {
  const first = await outermost(store, "asc");
  if (first !== null && first.chain_position! <= checkpoint.position)
    throw new Broken("inserted", first.chain_position, first.id, "an entry was inserted before the start of the chain");
  if (first === null || first.chain_position === checkpoint.position + 1 || checkpoint.position > 0) return;
  // A concurrent expiry has written its checkpoint.
  if ((await readEnds(store)).checkpoints.length > 0) return;
  throw new Broken(
    "no_checkpoint",
    1,
    null,
    `entries 1 to ${first.chain_position! - 1} are missing, and no signed checkpoint records that they expired`,
  );
}

/** Compares the chain with a previously noted link, if that entry still exists. */
async function checkNoted(store: ServerTx, noted: Link, checkpoint: Link, head: Link): Promise<void> {
  if (noted.position < checkpoint.position) return;
  if (noted.position > head.position)
    throw new Broken(
      "truncated",
      noted.position,
      null,
      `the chain ends at position ${head.position}, but had reached position ${noted.position} before`,
    );
  const { hash } = noted.position === checkpoint.position ? checkpoint : await linkAt(store, noted.position);
  if (hash !== noted.hash)
    throw new Broken("rewritten", noted.position, null, "the hash differs from the one noted earlier");
}

async function linkAt(store: ServerTx, position: number): Promise<Link> {
  const row = await store.activities.first({ where: eq("chain_position", position) });
  if (row === null) throw new Broken("missing", position, null, `the entry at position ${position} is missing`);
  return { position, hash: row.chain_hash ?? "" };
}

/** Verifies up to the signed end or the limit. Returns the position reached and whether the limit stopped it. */
async function follow(
  store: ServerTx,
  { key, head, start, breaks }: Walk,
  limit: number,
  count: (entries: number) => void,
): Promise<{ end: Link; more: boolean }> {
  let at = start;
  for (let left = limit; left > 0; ) {
    const page = await store.activities.list(after(at.position, Math.min(BATCH_SIZE, left)));
    const within = page.filter((row) => row.chain_position! <= head.position);
    for (const row of within) {
      const mark = breaks.get(at.position);
      if (mark)
        throw new Broken(
          "broken",
          mark.position,
          row.id,
          `the server found the chain damaged on ${mark.created_at} and started a new one after position ${mark.position}`,
        );
      if (row.chain_position! > at.position + 1) {
        const moved = await expiredTo(store, key, at);
        if (moved === null || row.chain_position! > moved.position + 1) throw gap(at, row.chain_position! - 1);
        if (row.chain_position! <= moved.position) continue;
        at = moved;
      }
      if (entryHash(at, row) !== row.chain_hash) throw await wrong(store, at, row);
      at = { position: row.chain_position!, hash: row.chain_hash };
    }
    count(within.length);
    left -= page.length;
    if (within.length < page.length || page.length === 0) return { end: at, more: false };
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { end: at, more: at.position < head.position };
}

const gap = ({ position }: Link, to: number) =>
  new Broken(
    "missing",
    position + 1,
    null,
    position + 1 === to
      ? `the entry at position ${to} is missing`
      : `the entries at positions ${position + 1} to ${to} are missing`,
  );

/** The checkpoint, if the entries to verify expired meanwhile. */
async function expiredTo(store: ServerTx, key: string, at: Link): Promise<Link | null> {
  const checkpoint = startOf(key, await readEnds(store));
  return checkpoint.position > at.position ? checkpoint : null;
}

/** Explains why an entry does not match its position: it was edited, or belongs elsewhere. */
async function wrong(store: ServerTx, at: Link, row: ActivityRow): Promise<Broken> {
  const position = at.position + 1;
  for (let seen = position; seen < position + MAX_ENTRIES_SEARCHED; ) {
    const page = await store.activities.list(after(seen, BATCH_SIZE));
    for (const other of page) {
      const hash = entryHash(at, other);
      if (hash === row.chain_hash || hash === other.chain_hash)
        return new Broken(
          "swapped",
          position,
          row.id,
          `entry ${other.id}, now at position ${other.chain_position}, belongs at the position of entry ${row.id}`,
        );
    }
    if (page.length < BATCH_SIZE) break;
    seen = page.at(-1)!.chain_position!;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return new Broken("edited", position, row.id, `entry ${row.id} or the one before it was changed`);
}

async function checkEnd(store: ServerTx, { key, head }: Walk, end: Link): Promise<void> {
  if (end.position < head.position) {
    const moved = await expiredTo(store, key, end);
    if (moved === null || moved.position < head.position)
      throw new Broken(
        "truncated",
        end.position + 1,
        null,
        `the entries at positions ${end.position + 1} to ${head.position} (the signed end) are missing`,
      );
    return;
  }
  if (end.hash !== head.hash)
    throw new Broken("rewritten", end.position, null, "the hashes are consistent, but do not match the signed end");
  // Entries sealed meanwhile have moved the end.
  const last = await store.activities.first({
    where: gt("chain_position", head.position),
    order: [{ column: "chain_position", direction: "desc" }],
  });
  if (last === null) return;
  const now = soleSigned(key, (await readEnds(store)).heads, "head");
  if (now === null || last.chain_position! > now.position)
    throw new Broken("inserted", last.chain_position, last.id, "an entry was added after the signed end of the chain");
}
