// A live query as one reader sees it: what is there already, then what comes, then the end. Both the event stream and the
// websocket are fed from here.
import type { LiveResult, LiveStatus, LiveTotals } from "../../api/live-queries.ts";
import type { Context } from "../core/context.ts";
import { and, gt, lt, oneOf } from "../store/query.ts";
import { liveOf } from "./hub.ts";
import { QUIET_MS } from "./limits.ts";
import { placeOf, seqOf } from "./tables.ts";
import { statusOf, totalsOf } from "./view.ts";

export type LiveEvent =
  | { readonly type: "totals"; readonly data: LiveTotals; readonly seq: number }
  | { readonly type: "status"; readonly data: LiveStatus; readonly seq: number }
  | { readonly type: "result"; readonly data: LiveResult; readonly seq: number }
  | { readonly type: "error"; readonly data: string; readonly seq: number }
  /** Nothing new; the connection lives. */
  | { readonly type: "quiet"; readonly seq: number };

const PAGE = 200;
/** Bytes of rows that are taken out of the store at once for one reader. */
const PAGE_BYTES = 1024 * 1024;
/** Counts are told at most so often, except the last. */
const STATUS_EVERY_MS = 500;

type Home = Pick<Context, "store" | "clock" | "config">;

/** Results after that number, in their order, each once. Ends with the query, the signal or the server. */
export async function* follow(
  ctx: Home,
  id: number,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent, void> {
  const { store } = ctx;
  const live = liveOf(ctx);
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
  let toldAt: number | null = null;
  try {
    detach = await live.attach(id);
    while (!over()) {
      changed = false;
      // The row before the results: when it says that the query is over, the results that follow are all there are.
      const row = await store.campaigns.get(id);
      if (!row) {
        yield { type: "error", data: "the live query was removed", seq };
        return;
      }
      if (toldAt === null) yield { type: "totals", data: await totalsOf(ctx, row), seq };
      for await (const result of resultsAfter(ctx, id, seq)) {
        seq = result.seq;
        yield result;
        if (over()) return;
      }
      const ended = row.status === 2;
      const now = performance.now();
      if (ended || toldAt === null || now - toldAt >= STATUS_EVERY_MS) {
        yield { type: "status", data: statusOf(row), seq };
        toldAt = now;
        if (ended) return;
      }
      if (changed) continue;
      const owed = row.last_seq > 0 && now - toldAt < STATUS_EVERY_MS && now !== toldAt;
      const quiet = await pause(owed ? STATUS_EVERY_MS - (now - toldAt) : QUIET_MS, (set) => {
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

/** True when the time passed, false when woken. */
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
  { store }: Home,
  id: number,
  after: number,
): AsyncGenerator<LiveEvent & { type: "result" }> {
  for (let from = after; ; ) {
    const places = await store.campaignHosts.pick(["id", "place", "bytes"], {
      where: and(gt("place", placeOf(id, from)), lt("place", placeOf(id + 1, 0))),
      order: [{ column: "place", direction: "asc" }],
      limit: PAGE,
    });
    for (const some of byBytes(places)) {
      const rows = await store.campaignHosts.getMany(some.map((target) => target.id));
      const byId = new Map(rows.map((row) => [row.id, row]));
      const hosts = await store.hosts.pick(["id", "hostname", "display_name"], {
        where: oneOf(
          "id",
          rows.map(({ host_id }) => host_id),
        ),
      });
      const hostOf = new Map(hosts.map((host) => [host.id, host]));
      for (const target of some) {
        const row = byId.get(target.id);
        const host = row && hostOf.get(row.host_id);
        // Deleted meanwhile.
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
    if (places.length < PAGE) return;
    from = seqOf(places.at(-1)!.place!);
  }
}

function byBytes<T extends { readonly bytes: number }>(targets: readonly T[]): T[][] {
  const parts: T[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const target of targets) {
    if (bytes + target.bytes > PAGE_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)!.push(target);
    bytes += target.bytes;
  }
  return parts;
}
