// Stores the result lines of hosts as reports. A log request is acknowledged only after its results are stored.
// Requests that arrive while a batch is being written share the next transaction.

import type { ResultLine } from "../../platform/agent-protocol/lines.ts";
import { channels } from "../../platform/core/channels.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf } from "../../platform/store/query.ts";
import { BadRow } from "../../platform/store/rows.ts";
import { ReferenceViolation, StoreUnavailable } from "../../platform/store/store.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { type Answer, answersIn, sizeOf } from "./answers.ts";
import type { KnownQuery, Plan, PlanCache } from "./plan.ts";
import { reportRules, storedRows } from "./report.ts";
import type { queryResults } from "./tables.ts";

interface ReportIntake {
  /**
   * Resolves once the results in the lines are stored; undefined: there is nothing to store. Rejects if storing fails,
   * so that the agent keeps the lines and sends them again.
   */
  take(host: ReportingHost, lines: readonly ResultLine[]): Promise<void> | undefined;
  /** Resolves when all pending results are written or rejected. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** The host that sent the lines. */
interface ReportingHost {
  readonly id: number;
  readonly teamId: number | null;
}

interface Waiting {
  readonly hostId: number;
  readonly query: KnownQuery;
  /** The plan in which the query was found. */
  readonly plan: Plan;
  readonly rows: Answer["rows"];
  readonly size: number;
  readonly at: string;
  /** Called when the result is written, or with an error if that failed. */
  readonly settled: readonly ((error?: unknown) => void)[];
}

/** Results per transaction. */
const BATCH_SIZE = 200;
/** Maximum text (characters) per transaction, so that other requests are not delayed. */
const BATCH_CHARS = 2 * 1024 * 1024;
/** Maximum text (characters) of pending results. Beyond it requests are rejected, and agents keep their lines. */
export const waitingReports = limit({
  what: "results of queries that wait to be stored",
  max: 128 * 1024 * 1024,
  unit: "characters",
  per: "server",
  beyond: "Log messages are refused until there is room; agents keep their lines.",
});
/** How long a count of stored rows is cached. Other servers add rows too; a job trims the excess. */
const TOTAL_TTL = minutes(1);

export async function createReportIntake(services: Services, plans: PlanCache): Promise<ReportIntake> {
  const { store, clock, log } = services;
  /** By host and query: a newer result replaces one that is still pending. */
  const waiting = new Map<string, Waiting>();
  let bytes = 0;
  let working: Promise<void> | null = null;
  const totals = new Map<number, { rows: number; until: number }>();
  const forget = () => totals.clear();
  const stops = [
    await store.listen(channels.queries, forget, forget),
    await store.listen(channels.hosts, forget, forget),
  ];

  function add(plan: Plan, host: ReportingHost, lines: readonly ResultLine[]): Promise<void> | undefined {
    if (!plan.reportsEnabled) return undefined;
    const answers = answersIn(plan, host.teamId, lines);
    if (answers.length === 0) return undefined;
    const at = clock.iso();
    const sizes = answers.map(({ rows }) => sizeOf(rows));
    if (bytes > 0 && bytes + sizes.reduce((sum, size) => sum + size, 0) > waitingReports.max)
      return Promise.reject(new StoreUnavailable("too many query results are waiting to be written"));
    return new Promise((resolve, reject) => {
      let left = answers.length;
      const settled = (error?: unknown) => {
        if (error !== undefined) reject(error);
        else if (--left === 0) resolve();
      };
      for (const [i, { query, rows }] of answers.entries())
        enqueue({ hostId: host.id, query, plan, rows, size: sizes[i]!, at, settled: [settled] });
    });
  }

  function enqueue(one: Waiting): void {
    const key = `${one.hostId}/${one.query.id}`;
    const old = waiting.get(key);
    bytes += one.size - (old?.size ?? 0);
    waiting.set(key, old ? { ...one, settled: [...old.settled, ...one.settled] } : one);
    working ??= work();
  }

  async function work(): Promise<void> {
    // Results of the current turn of the event loop join the same batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const batch: Waiting[] = [];
      let size = 0;
      for (const [key, one] of waiting) {
        waiting.delete(key);
        bytes -= one.size;
        size += one.size;
        batch.push(one);
        if (batch.length === BATCH_SIZE || size >= BATCH_CHARS) break;
      }
      await settle(batch);
    }
    working = null;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    let outdated: readonly Waiting[] = [];
    try {
      outdated = await write(batch);
    } catch (err) {
      totals.clear();
      // Retry individually: a host or query deleted meanwhile must not affect the others.
      if (batch.length > 1 && !(err instanceof StoreUnavailable)) for (const one of batch) await settle([one]);
      else if (err instanceof ReferenceViolation || err instanceof BadRow) {
        // A retry would fail again and block all further lines of the host.
        if (err instanceof BadRow) log.warn({ err, host_id: batch[0]!.hostId }, "query results could not be stored");
        for (const one of batch) end(one);
      } else for (const one of batch) end(one, err);
      return;
    }
    const left = new Set(outdated);
    for (const one of batch) if (!left.has(one)) end(one);
    for (const one of outdated) await again(one).catch((err: unknown) => end(one, err));
  }

  const end = ({ settled }: Waiting, error?: unknown) => {
    for (const each of settled) each(error);
  };

  /** The query has changed: discard the result, unless this server's plan is outdated. */
  async function again(one: Waiting): Promise<void> {
    const isBehind = plans.now() === one.plan;
    const plan = isBehind ? await plans.reread(one.plan, []) : null;
    const query = plan?.query(one.query.id);
    if (plan && query?.logging === "snapshot" && !query.discard_data) enqueue({ ...one, plan, query });
    else end(one);
  }

  /** Returns the results whose query has changed. */
  async function write(batch: readonly Waiting[]): Promise<Waiting[]> {
    const rules = await reportRules(services);
    if (!rules.enabled) return [];
    let outdated: Waiting[] = [];
    const changes = await store.tx(async (tx) => {
      const still = await stillAsked(tx, batch);
      outdated = still.outdated;
      const stored = await storedRowCounts(tx, still.asked);
      const after = new Map<number, number>();
      const rows: InsertOf<typeof queryResults>[] = [];
      for (const { hostId, query, rows: answer, at } of still.asked) {
        const total = after.get(query.id) ?? (await totalOf(tx, query.id));
        const own = stored.get(`${hostId}/${query.id}`) ?? 0;
        const next = total - own + answer.length;
        // A host may always replace its result with one of the same size or smaller; the limit applies to growth.
        if (next > rules.cap && answer.length > own) continue;
        after.set(query.id, next);
        rows.push({ query_id: query.id, host_id: hostId, last_fetched: at, row_count: answer.length, rows: answer });
      }
      if (rows.length > 0) await tx.queryResults.upsert(rows, { on: ["query_id", "host_id"], returning: [] });
      return after;
    });
    for (const [queryId, rows] of changes) {
      const cached = totals.get(queryId);
      totals.set(queryId, { rows, until: cached?.until ?? clock.now() + TOTAL_TTL });
    }
    return outdated;
  }

  async function totalOf(tx: ServerTx, queryId: number): Promise<number> {
    const known = totals.get(queryId);
    if (known && clock.now() < known.until) return known.rows;
    const rows = await storedRows(tx, queryId);
    totals.set(queryId, { rows, until: clock.now() + TOTAL_TTL });
    return rows;
  }

  return {
    take(host, lines) {
      const plan = plans.now();
      const isKnown =
        plan && !lines.some(({ value: { name } }) => typeof name === "string" && plans.mayBeNew(plan, name));
      if (isKnown) return add(plan, host, lines);
      const asker = { id: host.id, teamId: host.teamId };
      const names = lines.flatMap(({ value: { name } }) => (typeof name === "string" ? [name] : []));
      return (plan ? plans.reread(plan, names) : plans.get()).then((read) => add(read, asker, lines));
    },
    async idle() {
      await working;
    },
    async stop() {
      await working;
      for (const stop of stops) await stop();
    },
  };
}

/** Omits results of hosts and queries that were deleted or changed team; `outdated` are those of changed queries. */
async function stillAsked(tx: ServerTx, batch: readonly Waiting[]): Promise<{ asked: Waiting[]; outdated: Waiting[] }> {
  const hostIds = [...new Set(batch.map(({ hostId }) => hostId))];
  const queryIds = [...new Set(batch.map(({ query }) => query.id))];
  const hosts = await tx.hosts.pick(["id", "team_id"], { where: oneOf("id", hostIds) });
  const queries = await tx.queries.pick(["id", "updated_at"], { where: oneOf("id", queryIds) });
  const teamOf = new Map(hosts.map(({ id, team_id }) => [id, team_id]));
  const changedAt = new Map(queries.map(({ id, updated_at }) => [id, updated_at]));
  const known = batch.filter(
    ({ hostId, query }) =>
      teamOf.has(hostId) && changedAt.has(query.id) && (query.team_id === null || teamOf.get(hostId) === query.team_id),
  );
  const isCurrent = ({ query }: Waiting) => changedAt.get(query.id) === query.updated_at;
  return { asked: known.filter(isCurrent), outdated: known.filter((one) => !isCurrent(one)) };
}

/** The number of stored rows by host and query. */
async function storedRowCounts(tx: ServerTx, batch: readonly Waiting[]): Promise<Map<string, number>> {
  if (batch.length === 0) return new Map();
  const stored = await tx.queryResults.pick(["host_id", "query_id", "row_count"], {
    where: and(
      oneOf("query_id", [...new Set(batch.map(({ query }) => query.id))]),
      oneOf("host_id", [...new Set(batch.map(({ hostId }) => hostId))]),
    ),
  });
  return new Map(stored.map(({ host_id, query_id, row_count }) => [`${host_id}/${query_id}`, row_count]));
}
