// Renders the stored results of scheduled queries.
import type { ReportRow } from "../../../api/checks/queries.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { hosts } from "../../hosts/hosts/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { jsonWithList } from "../../platform/core/http/text-stream.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq, exists, gt, oneOf, type Predicate } from "../../platform/store/query.ts";
import { getTeamRow } from "../../settings/teams/access.ts";
import { mayRead, type QueryRow, queryFor } from "./access.ts";
import { hostsSeen } from "./service.ts";

/** Default for the maximum number of stored rows of one query, over all hosts. */
const DEFAULT_CAP = 1000;

interface ReportRules {
  readonly enabled: boolean;
  readonly cap: number;
}

export async function reportRules({ config }: Pick<Context, "config">): Promise<ReportRules> {
  const { query_reports_disabled: off, query_report_cap: cap } = (await config.current()).server_settings;
  return { enabled: !off, cap: cap > 0 ? cap : DEFAULT_CAP };
}

export async function storedRows(store: Context["store"], queryId: number): Promise<number> {
  const counts = await store.queryResults.pick(["row_count"], {
    where: and(eq("query_id", queryId), gt("row_count", 0)),
  });
  return counts.reduce((sum, { row_count }) => sum + row_count, 0);
}

/** The hosts included in a report. For a query of a team only those still in the team. */
const shown = (ctx: Context, query: QueryRow, teamId: number | undefined): Predicate =>
  exists(
    hosts,
    "id",
    and(hostsSeen(ctx), inTeam(teamId), query.team_id === null ? inTeam(undefined) : eq("team_id", query.team_id)),
    "host_id",
  );

const hasReport = (query: QueryRow, rules: ReportRules): boolean =>
  rules.enabled && !query.discard_data && query.logging === "snapshot";

/** The report in parts, ordered by host id. */
export async function* reportPages(
  ctx: Context,
  query: QueryRow,
  teamId: number | undefined,
): AsyncGenerator<ReportRow[]> {
  if (!hasReport(query, await reportRules(ctx))) return;
  const where = and(eq("query_id", query.id), gt("row_count", 0), shown(ctx, query, teamId));
  const order = [{ column: "host_id", direction: "asc" }] as const;
  for await (const results of ctx.store.queryResults.pages({ where, order }, 50)) {
    const named = await ctx.store.hosts.pick(["id", "display_name"], {
      where: oneOf(
        "id",
        results.map(({ host_id }) => host_id),
      ),
    });
    const names = new Map(named.map(({ id, display_name }) => [id, display_name]));
    yield results.flatMap(({ host_id, last_fetched, rows }) =>
      rows.map((columns) => ({ host_id, host_name: names.get(host_id) ?? "", last_fetched, columns })),
    );
  }
}

/** Reports with more rows are streamed. */
const LONG = 200;

/** The query of a report; 404 too if the report is limited to a team that the caller cannot see. */
export async function queryOfReport(ctx: Context, id: number, teamId: number | undefined): Promise<QueryRow> {
  const query = await queryFor(ctx, "queries:list", id);
  if (teamId) await getTeamRow(ctx, "queries:list", teamId);
  return query;
}

export async function queryReport(ctx: Context, id: number, teamId: number | undefined) {
  const query = await queryOfReport(ctx, id, teamId);
  const head = { query_id: id, report_clipped: await isClipped(ctx, query) };
  const pages = reportPages(ctx, query, teamId);
  if ((await storedRows(ctx.store, id)) > LONG) return jsonWithList(ctx, "results", pages, head);
  const results: ReportRow[] = [];
  for await (const page of pages) results.push(...page);
  return { ...head, results };
}

async function isClipped(ctx: Context, query: QueryRow): Promise<boolean> {
  const rules = await reportRules(ctx);
  return hasReport(query, rules) && (await storedRows(ctx.store, query.id)) >= rules.cap;
}

export async function hostReport(ctx: Context, hostId: number, queryId: number) {
  const host = await hostFor(ctx, "queries:list", hostId);
  const query = await ctx.store.queries.get(queryId);
  if (!query || !mayRead(ctx.user, query.team_id)) throw notFound("query", queryId);
  const isOfHost = query.team_id === null || query.team_id === host.team_id;
  const stored =
    isOfHost && hasReport(query, await reportRules(ctx))
      ? await ctx.store.queryResults.first({ where: and(eq("query_id", queryId), eq("host_id", hostId)) })
      : null;
  return {
    query_id: queryId,
    host_id: hostId,
    host_name: host.display_name,
    last_fetched: stored?.last_fetched ?? null,
    report_clipped: await isClipped(ctx, query),
    results: (stored?.rows ?? []).map((columns) => ({ columns })),
  };
}
