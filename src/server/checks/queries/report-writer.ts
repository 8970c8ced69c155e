// Writes the results of queries as reports, within the limits on their rows.

import { teamsOfHosts } from "../../hosts/hosts/reads.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { Answer } from "./answers.ts";
import type { PlannedQuery } from "./plan.ts";
import { reportRules, storedRows } from "./report.ts";
import type { queryResults } from "./tables.ts";

/** The result of a query on a host. */
export interface Report {
  readonly hostId: number;
  readonly query: PlannedQuery;
  readonly rows: Answer["rows"];
  readonly at: string;
}

/** How long a count of stored rows is cached. Other servers add rows too; a job trims the excess. */
const TOTAL_TTL = minutes(1);

export class ReportWriter {
  readonly #services: Pick<Services, "store" | "clock" | "config">;
  readonly #totals = new Map<number, { rows: number; until: number }>();

  constructor(services: Pick<Services, "store" | "clock" | "config">) {
    this.#services = services;
  }

  forgetTotals(): void {
    this.#totals.clear();
  }

  /** Returns the results whose query has changed. */
  async write<R extends Report>(batch: readonly R[]): Promise<R[]> {
    const { store, clock } = this.#services;
    const { enabled, cap } = await reportRules(this.#services);
    if (!enabled) return [];
    let outdated: R[] = [];
    const changes = await store.tx(async (tx) => {
      const reports = await withoutGone(tx, batch);
      outdated = reports.outdated;
      return this.#writeCurrent(tx, reports.current, cap);
    });
    for (const [queryId, rows] of changes) {
      const cached = this.#totals.get(queryId);
      this.#totals.set(queryId, { rows, until: cached?.until ?? clock.now() + TOTAL_TTL });
    }
    return outdated;
  }

  /** Returns the number of stored rows of each query. */
  async #writeCurrent(tx: ServerTx, reports: readonly Report[], cap: number): Promise<Map<number, number>> {
    const stored = await storedRowCounts(tx, reports);
    const after = new Map<number, number>();
    const rows: InsertOf<typeof queryResults>[] = [];
    for (const { hostId, query, rows: answer, at } of reports) {
      const total = after.get(query.id) ?? (await this.#totalOf(tx, query.id));
      const previous = stored.get(`${hostId}/${query.id}`) ?? 0;
      const next = total - previous + answer.length;
      // A host may always replace its result with one of the same size or smaller; the limit applies to growth.
      if (next > cap && answer.length > previous) continue;
      after.set(query.id, next);
      rows.push({ query_id: query.id, host_id: hostId, last_fetched: at, row_count: answer.length, rows: answer });
    }
    if (rows.length > 0) await tx.queryResults.upsert(rows, { on: ["query_id", "host_id"], returning: [] });
    return after;
  }

  async #totalOf(tx: ServerTx, queryId: number): Promise<number> {
    const { clock } = this.#services;
    const cached = this.#totals.get(queryId);
    if (cached && clock.now() < cached.until) return cached.rows;
    const rows = await storedRows(tx, queryId);
    this.#totals.set(queryId, { rows, until: clock.now() + TOTAL_TTL });
    return rows;
  }
}

/** Omits results of hosts and queries that were deleted or changed team; `outdated` are those of changed queries. */
async function withoutGone<R extends Report>(
  tx: ServerTx,
  batch: readonly R[],
): Promise<{ current: R[]; outdated: R[] }> {
  const hostIds = [...new Set(batch.map(({ hostId }) => hostId))];
  const queryIds = [...new Set(batch.map(({ query }) => query.id))];
  const teamOf = await teamsOfHosts(tx, hostIds);
  const queries = await tx.queries.pick(["id", "updated_at"], { where: oneOf("id", queryIds) });
  const changedAt = new Map(queries.map(({ id, updated_at }) => [id, updated_at]));
  const ofTeam = batch.filter(
    ({ hostId, query }) =>
      teamOf.has(hostId) && changedAt.has(query.id) && (query.team_id === null || teamOf.get(hostId) === query.team_id),
  );
  const isCurrent = ({ query }: Report) => changedAt.get(query.id) === query.updated_at;
  return { current: ofTeam.filter(isCurrent), outdated: ofTeam.filter((report) => !isCurrent(report)) };
}

/** The number of stored rows by host and query. */
async function storedRowCounts(tx: ServerTx, batch: readonly Report[]): Promise<Map<string, number>> {
  if (batch.length === 0) return new Map();
  const stored = await tx.queryResults.pick(["host_id", "query_id", "row_count"], {
    where: and(
      oneOf("query_id", [...new Set(batch.map(({ query }) => query.id))]),
      oneOf("host_id", [...new Set(batch.map(({ hostId }) => hostId))]),
    ),
  });
  return new Map(stored.map(({ host_id, query_id, row_count }) => [`${host_id}/${query_id}`, row_count]));
}
