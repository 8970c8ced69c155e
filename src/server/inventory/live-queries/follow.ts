// Follows a live query for one reader: stored results, then new ones, then the end. Feeds the event stream and the
// websocket.
import type { LiveResult, LiveStatus, LiveTotals } from "../../../api/inventory/live-queries.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, gt, lt, oneOf } from "../../platform/store/query.ts";
import { liveQueries } from "./hub.ts";
import { QUIET_MS } from "./limits.ts";
import { Recount } from "./recount.ts";
import { type CampaignRow, placeOf, seqOf } from "./tables.ts";
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
export const follow = (ctx: Deps, id: number, reading: Reading): AsyncGenerator<LiveEvent, void> =>
  new Follower(ctx, id, reading).events();

class Follower {
  readonly #ctx: Deps;
  readonly #id: number;
  readonly #signal: AbortSignal;
  readonly #keepsOpen: boolean;
  readonly #live;
  readonly #recount: Recount | null;
  readonly #news = new News();
  readonly #alarm = new Alarm();
  #seq: number;
  #statusAt: number | null = null;

  constructor(ctx: Deps, id: number, { after, signal, keepsOpen = false }: Reading) {
    this.#ctx = ctx;
    this.#id = id;
    this.#seq = after;
    this.#signal = signal;
    this.#keepsOpen = keepsOpen;
    this.#live = ctx.running.of(liveQueries);
    this.#recount = keepsOpen ? new Recount(ctx, () => this.#live.openReaders()) : null;
  }

  async *events(): AsyncGenerator<LiveEvent, void> {
    const wake = () => this.#alarm.ring();
    const stopListening = [this.#live.onChange(this.#id, wake), this.#live.onStopping(wake)];
    this.#signal.addEventListener("abort", wake);
    let detach: (() => void) | null = null;
    try {
      detach = await this.#live.attach(this.#id, { keepsOpen: this.#keepsOpen });
      while (!this.#isOver()) {
        this.#alarm.reset();
        // Read the row first: if it is complete, the results read afterwards are all there are.
        const row = await this.#ctx.store.campaigns.get(this.#id);
        if (!row) {
          yield { type: "error", data: "the live query was removed", seq: this.#seq };
          return;
        }
        if (this.#statusAt === null) yield this.#totals(await totalsOf(this.#ctx, row));
        for await (const result of resultsAfter(this.#ctx, this.#id, this.#seq)) {
          this.#seq = result.seq;
          yield result;
          if (this.#isOver()) return;
        }
        const now = performance.now();
        if (row.status === 2 || this.#statusAt === null || now - this.#statusAt >= STATUS_EVERY_MS) {
          const news = await this.#newsOf(row);
          if (news === "outdated") continue;
          yield* news;
          this.#statusAt = now;
          if (row.status === 2) return;
        }
        if (!this.#alarm.hasRung && (await this.#pause(row, now))) yield { type: "quiet", seq: this.#seq };
      }
    } finally {
      for (const stop of stopListening) stop();
      this.#signal.removeEventListener("abort", wake);
      detach?.();
    }
  }

  #isOver(): boolean {
    return this.#signal.aborted || this.#live.isStopping();
  }

  #totals(data: LiveTotals): LiveEvent {
    this.#news.differs("totals", data);
    return { type: "totals", data, seq: this.#seq };
  }

  /** The totals and the status, if they have changed. `outdated`: the row has to be read again. */
  async #newsOf(row: CampaignRow): Promise<LiveEvent[] | "outdated"> {
    const isRecounted = this.#recount !== null && row.status !== 2;
    const expected = isRecounted ? ((await this.#recount?.of(row)) ?? null) : null;
    if (isRecounted && !expected) return "outdated";
    const events: LiveEvent[] = [];
    if (expected && this.#news.differs("totals", expected.totals))
      events.push({ type: "totals", data: expected.totals, seq: this.#seq });
    const status = statusOf(row, expected?.left);
    if (this.#news.differs("status", status) || !this.#recount)
      events.push({ type: "status", data: status, seq: this.#seq });
    return events;
  }

  /** Waits for a change. True if there was none for so long that the connection needs a sign of life. */
  async #pause(row: CampaignRow, now: number): Promise<boolean> {
    const sinceStatus = now - this.#statusAt!;
    const isStatusDue = row.last_seq > 0 && sinceStatus < STATUS_EVERY_MS && sinceStatus !== 0;
    const quietFor = this.#recount ? Math.min(QUIET_MS, this.#recount.dueIn() + 1) : QUIET_MS;
    const isQuiet = await this.#alarm.silence(isStatusDue ? STATUS_EVERY_MS - sinceStatus : quietFor);
    return isQuiet && !isStatusDue;
  }
}

class News {
  readonly #last = new Map<string, string>();

  /** Whether the data differs from the last event of that type. */
  differs(type: string, data: unknown): boolean {
    const text = JSON.stringify(data);
    if (this.#last.get(type) === text) return false;
    this.#last.set(type, text);
    return true;
  }
}

class Alarm {
  hasRung = true;
  #wake = () => {};

  ring(): void {
    this.hasRung = true;
    this.#wake();
  }

  reset(): void {
    this.hasRung = false;
  }

  /** True after the delay, false if it rings before. */
  silence(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(true), milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(false);
      };
    });
  }
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
