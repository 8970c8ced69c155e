// From hosts' result lines to stored reports. Lines are taken after the log request was accepted, and written in batches beside
// it: a report never delays or fails a log. What waits when the server dies is lost; the host's next answer replaces it.
import type { HostState } from "../agent/host-state.ts";
import type { ResultLine } from "../agent/log.ts";
import { channels } from "../core/channels.ts";
import { minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { and, oneOf } from "../store/query.ts";
import { ReferenceViolation, StoreUnavailable } from "../store/store.ts";
import type { InsertOf } from "../store/table.ts";
import type { ServerTx } from "../tables.ts";
import { type Answer, answersIn, sizeOf } from "./answers.ts";
import type { KnownQuery, Plan, PlanCache } from "./plan.ts";
import { reportRules, storedRows } from "./report.ts";
import type { queryResults } from "./tables.ts";

export interface ReportIntake {
  take(host: Pick<HostState, "id" | "teamId">, lines: readonly ResultLine[]): void;
  /** Resolves when all that was taken is written. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting {
  readonly hostId: number;
  readonly query: KnownQuery;
  readonly rows: Answer["rows"];
  readonly size: number;
  readonly at: string;
}

/** Answers written together. */
const BATCH = 200;
/** And their text: others get their turn before the next ones. */
const BATCH_TEXT = 2 * 1024 * 1024;
/** Requests whose lines may wait for the plan to be read. */
const READING_MAX = 1000;
/** Text of answers that may wait; beyond it answers are dropped, for the hosts will send the next ones. */
const WAITING_MAX = 128 * 1024 * 1024;
/** How long a count of stored rows is believed. Other servers add rows too; a job trims what is too much. */
const TOTAL_TTL = minutes(1);

export async function createReportIntake(services: Services, plans: PlanCache): Promise<ReportIntake> {
  const { store, clock, log } = services;
  /** By host and query: a newer answer takes the place of one that still waits. */
  const waiting = new Map<string, Waiting>();
  let bytes = 0;
  let dropped = 0;
  let working: Promise<void> | null = null;
  /** Plans still being read, for lines that came before there was one. */
  const reading = new Set<Promise<void>>();
  const totals = new Map<number, { rows: number; until: number }>();
  const forget = () => totals.clear();
  const stops = [
    await store.listen(channels.queries, forget, forget),
    await store.listen(channels.hosts, forget, forget),
  ];

  function add(plan: Plan, host: Pick<HostState, "id" | "teamId">, lines: readonly ResultLine[]): void {
    if (!plan.reportsEnabled) return;
    const answers = answersIn(plan, host.teamId, lines);
    if (answers.length === 0) return;
    const at = clock.iso();
    for (const { query, rows } of answers) {
      const key = `${host.id}/${query.id}`;
      const size = sizeOf(rows);
      const old = waiting.get(key);
      if (bytes - (old?.size ?? 0) + size > WAITING_MAX) {
        if (dropped++ === 0) log.warn("query reports are dropped: more come than can be written");
        continue;
      }
      bytes += size - (old?.size ?? 0);
      waiting.set(key, { hostId: host.id, query, rows, size, at });
    }
    if (waiting.size > 0) working ??= work();
  }

  async function work(): Promise<void> {
    // What the event loop has in hand now comes into the same batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const batch: Waiting[] = [];
      let size = 0;
      for (const [key, one] of waiting) {
        waiting.delete(key);
        bytes -= one.size;
        size += one.size;
        batch.push(one);
        if (batch.length === BATCH || size >= BATCH_TEXT) break;
      }
      await settle(batch);
    }
    if (dropped > 0) log.warn({ answers: dropped }, "query reports were dropped");
    dropped = 0;
    working = null;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      await write(batch);
    } catch (err) {
      totals.clear();
      // A host or query that goes at this moment costs the others nothing.
      if (batch.length > 1 && !(err instanceof StoreUnavailable)) for (const one of batch) await settle([one]);
      // Hosts send their next answers.
      else if (!(err instanceof ReferenceViolation))
        log.warn({ err, answers: batch.length }, "query reports could not be written");
    }
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const rules = await reportRules(services);
    if (!rules.enabled) return;
    const changes = await store.tx(async (tx) => {
      const still = await stillAsked(tx, batch);
      const held = await heldRows(tx, still);
      const after = new Map<number, number>();
      const rows: InsertOf<typeof queryResults>[] = [];
      for (const { hostId, query, rows: answer, at } of still) {
        const total = after.get(query.id) ?? (await totalOf(tx, query.id));
        const own = held.get(`${hostId}/${query.id}`) ?? 0;
        const next = total - own + answer.length;
        // A host with a smaller answer than before may always give it: only growth is capped.
        if (next > rules.cap && answer.length > own) continue;
        after.set(query.id, next);
        rows.push({ query_id: query.id, host_id: hostId, last_fetched: at, row_count: answer.length, rows: answer });
      }
      if (rows.length > 0) await tx.queryResults.upsert(rows, { on: ["query_id", "host_id"], returning: [] });
      return after;
    });
    for (const [queryId, rows] of changes) {
      const held = totals.get(queryId);
      totals.set(queryId, { rows, until: held?.until ?? clock.now() + TOTAL_TTL });
    }
  }

  async function totalOf(tx: ServerTx, queryId: number): Promise<number> {
    const known = totals.get(queryId);
    if (known && clock.now() < known.until) return known.rows;
    const rows = await storedRows(tx, queryId);
    totals.set(queryId, { rows, until: clock.now() + TOTAL_TTL });
    return rows;
  }

  async function idle(): Promise<void> {
    await Promise.all(reading);
    await working;
  }

  return {
    take(host, lines) {
      const plan = plans.now();
      if (plan) return add(plan, host, lines);
      if (reading.size >= READING_MAX) return;
      const told = { id: host.id, teamId: host.teamId };
      const read = plans
        .get()
        .then((later) => add(later, told, lines))
        // Without the store there is a line for every request already.
        .catch((err: unknown) => log.debug({ err }, "query reports could not be taken"))
        .finally(() => reading.delete(read));
      reading.add(read);
    },
    idle,
    async stop() {
      await idle();
      for (const stop of stops) await stop();
    },
  };
}

/** Without answers of hosts and queries that went, that moved to another team, or that ask something else by now. */
async function stillAsked(tx: ServerTx, batch: readonly Waiting[]): Promise<Waiting[]> {
  const hostIds = [...new Set(batch.map(({ hostId }) => hostId))];
  const queryIds = [...new Set(batch.map(({ query }) => query.id))];
  const hosts = await tx.hosts.pick(["id", "team_id"], { where: oneOf("id", hostIds) });
  const queries = await tx.queries.pick(["id", "updated_at"], { where: oneOf("id", queryIds) });
  const teamOf = new Map(hosts.map(({ id, team_id }) => [id, team_id]));
  const changedAt = new Map(queries.map(({ id, updated_at }) => [id, updated_at]));
  return batch.filter(
    ({ hostId, query }) =>
      teamOf.has(hostId) &&
      (query.team_id === null || teamOf.get(hostId) === query.team_id) &&
      changedAt.get(query.id) === query.updated_at,
  );
}

/** How many rows each host has now, by host and query. */
async function heldRows(tx: ServerTx, batch: readonly Waiting[]): Promise<Map<string, number>> {
  if (batch.length === 0) return new Map();
  const held = await tx.queryResults.pick(["host_id", "query_id", "row_count"], {
    where: and(
      oneOf("query_id", [...new Set(batch.map(({ query }) => query.id))]),
      oneOf("host_id", [...new Set(batch.map(({ hostId }) => hostId))]),
    ),
  });
  return new Map(held.map(({ host_id, query_id, row_count }) => [`${host_id}/${query_id}`, row_count]));
}
