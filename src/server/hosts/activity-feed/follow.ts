// Follows the activity feed for one reader: entries in chain order, each once, starting after the last one read.
import type { Activity } from "../../../api/platform/activities.ts";
import { after as entriesAfter, readEnds } from "../../platform/activities/chain.ts";
import { minutes, seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import { and, gt, isNull, lte, type Predicate } from "../../platform/store/query.ts";
import { activityFeed } from "./feed.ts";
import { sourcedActivity } from "./service.ts";

export type FeedEvent =
  | { readonly type: "activity"; readonly position: number; readonly data: Activity }
  /** Entries expired before the reader got to them. */
  | { readonly type: "gap"; readonly position: number; readonly data: { readonly from: number; readonly to: number } }
  /** No new entries for this reader up to this position. */
  | { readonly type: "quiet"; readonly position: number };

const BATCH_SIZE = 200;
/** After this time without entries, the reader's access is checked and the client gets a keep-alive. */
const QUIET_MS = seconds(15);
/** Sealing is notified; these two only limit the wait if a notification is lost. */
const SEALED_MS = seconds(5);
const LOOK_MS = 200;
/** Maximum duration of a stream. Readers reconnect, which authenticates their token again. */
const STREAM_MS = minutes(10);

interface FollowOptions {
  readonly where: Predicate;
  /** Position of the last entry seen; null: none. */
  readonly after: number | null;
  /** Without `after`: start with this many of the existing entries. */
  readonly last: number;
  /** End after the existing entries. */
  readonly once: boolean;
  /** Interval of access checks, in milliseconds. */
  readonly lookEvery?: number;
}

export async function* follow(
  ctx: Context,
  { where, after, last, once, lookEvery = QUIET_MS }: FollowOptions,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent, void> {
  const { store } = ctx;
  const feed = ctx.running.of(activityFeed);
  let changed = true;
  let wake = () => {};
  const woken = () => {
    changed = true;
    wake();
  };
  const isOver = () => signal.aborted || feed.isStopping();
  const forget = feed.onChange(woken);
  signal.addEventListener("abort", woken);
  const until = performance.now() + STREAM_MS;
  let checkedAt = performance.now();
  try {
    if (once)
      await sealed(ctx, (set) => {
        wake = set;
      });
    let at = Math.min(after ?? Number.MAX_SAFE_INTEGER, await endOf(ctx));
    if (after === null && last > 0) at = await before(ctx, where, at, last);
    // Gives a reader that has received nothing yet a position from which to resume.
    yield { type: "quiet", position: at };
    while (!isOver() && performance.now() < until) {
      changed = false;
      const { heads, checkpoints } = await readEnds(store);
      const start = checkpoints.at(-1)?.position ?? 0;
      if (start > at) {
        yield { type: "gap", position: start, data: { from: at + 1, to: start } };
        at = start;
      }
      const end = heads[0]?.position ?? 0;
      while (at < end && !isOver()) {
        const page = await store.activities.list(entriesAfter(at, BATCH_SIZE, and(where, lte("chain_position", end))));
        for (const row of page) {
          yield { type: "activity", position: row.chain_position!, data: sourcedActivity(row) };
          if (isOver()) return;
        }
        at = page.length < BATCH_SIZE ? end : page.at(-1)!.chain_position!;
      }
      if (once) return;
      if (performance.now() - checkedAt >= lookEvery) {
        if (!(await mayGoOn(ctx))) return;
        checkedAt = performance.now();
        yield { type: "quiet", position: at };
      }
      if (changed) continue;
      await pause(Math.max(0, checkedAt + lookEvery - performance.now()), (set) => {
        wake = set;
      });
    }
  } finally {
    forget();
    signal.removeEventListener("abort", woken);
  }
}

/** Waits until all existing entries are sealed, or for SEALED_MS. */
async function sealed({ store }: Context, onWake: (wake: () => void) => void): Promise<void> {
  const [last] = await store.activities.pick(["id"], { order: [{ column: "id", direction: "desc" }], limit: 1 });
  const until = performance.now() + SEALED_MS;
  const where = and(isNull("chain_position"), lte("id", last?.id ?? 0));
  while ((await store.activities.first({ where })) !== null && performance.now() < until) await pause(LOOK_MS, onWake);
}

const endOf = async ({ store }: Context): Promise<number> => (await readEnds(store)).heads[0]?.position ?? 0;

/** The position before the last `last` matching entries. */
async function before({ store }: Context, where: Predicate, end: number, last: number): Promise<number> {
  const rows = await store.activities.pick(["chain_position"], {
    where: and(where, gt("chain_position", 0), lte("chain_position", end)),
    order: [{ column: "chain_position", direction: "desc" }],
    limit: last,
  });
  const first = rows.at(-1)?.chain_position;
  return first == null ? end : first - 1;
}

/** Whether the reader's session, account and role still allow it to read the feed. */
async function mayGoOn({ store, user }: Context): Promise<boolean> {
  if (user.kind !== "user") return false;
  const session = user.session_id === 0 ? null : await store.sessions.get(user.session_id);
  const row = await store.users.get(user.id);
  return session !== null && row !== null && maySomewhere(await viewerOf(store, row, session), "activities:list");
}

function pause(milliseconds: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
