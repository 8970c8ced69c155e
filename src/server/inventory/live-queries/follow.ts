// Follows a live query for one reader: stored results, then new ones, then the end. Feeds the event stream and the
// websocket.
import type { LiveResult, LiveStatus, LiveTotals } from "../../../api/inventory/live-queries.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, gt, lt, oneOf } from "../../platform/store/query.ts";
import { liveQueries } from "./hub.ts";
import { QUIET_MS } from "./limits.ts";
import { Recount } from "./recount.ts";
import { placeOf, seqOf } from "./tables.ts";
import { statusOf, totalsOf } from "./view.ts";

export type LiveEvent =
  | { readonly type: "totals"; readonly data: LiveTotals; readonly seq: number }
  | { readonly type: "status"; readonly data: LiveStatus; readonly seq: number }
  | { readonly type: "result"; readonly data: LiveResult; readonly seq: number }
  | { readonly type: "error"; readonly data: string; readonly seq: number }
  /** No new results; sent to keep the connection alive. */
  | { readonly type: "quiet"; readonly seq: number };

const BATCH_SIZE = 200;
/** Maximum bytes of rows read from the store at a time for one reader. */
const BATCH_BYTES = 1024 * 1024;
/** Minimum interval between status events, except for the last one. */
const STATUS_EVERY_MS = 500;

type Deps = Pick<Context, "store" | "clock" | "running">;

interface Reading {
  /** The number of the last result that the reader has received. */
  readonly after: number;
  readonly signal: AbortSignal;
  /**
   * The query stays open for hosts that come online while this reader is connected: totals are sent again when they
   * change, and the status is `finished` while all online hosts have reported.
   */
  readonly keepsOpen?: boolean;
}

/** Results after `after`, in order, each once. Stops at the end of the query, on the signal, or at shutdown. */
export async function* follow(
  ctx: Deps,
  id: number,
  { after, signal, keepsOpen = false }: Reading,
): AsyncGenerator<LiveEvent, void> {
  const { store } = ctx;
  const live = ctx.running.of(liveQueries);
  let seq = after;
  let changed = true;
  let wake = () => {};
  const woken = () => {
    changed = true;
    wake();
  };
  const over = () => signal.aborted || live.isStopping();
  const forget = [live.onChange(id, woken), live.onStopping(woken)];
  signal.addEventListener("abort", woken);
  let detach: (() => void) | null = null;
  let reportedAt: number | null = null;
  const recount = keepsOpen ? new Recount(ctx, () => live.openReaders()) : null;
  const isNews = createNews();
  try {
    detach = await live.attach(id, { keepsOpen });
    while (!over()) {
      changed = false;
      // Read the row first: if it is complete, the results read afterwards are all there are.
      const row = await store.campaigns.get(id);
      if (!row) {
        yield { type: "error", data: "the live query was removed", seq };
        return;
      }
      if (reportedAt === null) {
        const data = await totalsOf(ctx, row);
        isNews("totals", data);
        yield { type: "totals", data, seq };
      }
      for await (const result of resultsAfter(ctx, id, seq)) {
        seq = result.seq;
        yield result;
        if (over()) return;
      }
      const ended = row.status === 2;
      const now = performance.now();
      if (ended || reportedAt === null || now - reportedAt >= STATUS_EVERY_MS) {
        const expected = ended ? null : ((await recount?.of(row)) ?? null);
        if (recount && !ended && !expected) continue;
        if (expected && isNews("totals", expected.totals)) yield { type: "totals", data: expected.totals, seq };
        const data = statusOf(row, expected?.left);
        if (isNews("status", data) || !recount) yield { type: "status", data, seq };
        reportedAt = now;
        if (ended) return;
      }
      if (changed) continue;
      const owed = row.last_seq > 0 && now - reportedAt < STATUS_EVERY_MS && now !== reportedAt;
      const quietFor = recount ? Math.min(QUIET_MS, recount.dueIn() + 1) : QUIET_MS;
      const quiet = await pause(owed ? STATUS_EVERY_MS - (now - reportedAt) : quietFor, (set) => {
        wake = set;
      });
      if (quiet && !owed) yield { type: "quiet", seq };
    }
  } finally {
    for (const end of forget) end();
    signal.removeEventListener("abort", woken);
    detach?.();
  }
}

/** Whether the data differs from the last event of that type. */
function createNews(): (type: string, data: unknown) => boolean {
  const last = new Map<string, string>();
  return (type, data) => {
    const text = JSON.stringify(data);
    if (last.get(type) === text) return false;
    last.set(type, text);
    return true;
  };
}

/** True after the delay, false if woken earlier. */
function pause(milliseconds: number, onWake: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), milliseconds);
    onWake(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

async function* resultsAfter(
  { store }: Deps,
  id: number,
  after: number,
): AsyncGenerator<LiveEvent & { type: "result" }> {
  for (let from = after; ; ) {
    const places = await store.campaignHosts.pick(["id", "place", "bytes"], {
      where: and(gt("place", placeOf(id, from)), lt("place", placeOf(id + 1, 0))),
      order: [{ column: "place", direction: "asc" }],
      limit: BATCH_SIZE,
    });
    for (const batch of byBytes(places)) {
      const rows = await store.campaignHosts.getMany(batch.map((target) => target.id));
      const byId = new Map(rows.map((row) => [row.id, row]));
      const hosts = await store.hosts.pick(["id", "hostname", "display_name"], {
        where: oneOf(
          "id",
          rows.map(({ host_id }) => host_id),
        ),
      });
      const hostOf = new Map(hosts.map((host) => [host.id, host]));
      for (const target of batch) {
        const row = byId.get(target.id);
        const host = row && hostOf.get(row.host_id);
        // The host was deleted meanwhile.
        if (!row || !host) continue;
        const names = { host_hostname: host.hostname, host_display_name: host.display_name };
        yield {
          type: "result",
          seq: seqOf(target.place!),
          data: {
            distributed_query_execution_id: id,
            host: { id: host.id, hostname: host.hostname, display_name: host.display_name },
            rows: (row.rows ?? []).map((cells) => ({ ...cells, ...names })),
            error: row.error,
            stats: row.stats,
          },
        };
      }
    }
    if (places.length < BATCH_SIZE) return;
    from = seqOf(places.at(-1)!.place!);
  }
}

function byBytes<T extends { readonly bytes: number }>(targets: readonly T[]): T[][] {
  const parts: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const target of targets) {
    if (bytes + target.bytes > BATCH_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(target);
    bytes += target.bytes;
  }
  return parts;
}
